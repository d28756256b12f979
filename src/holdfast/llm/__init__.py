"""Language models behind one small protocol (base). Nothing here knows memories."""
