"""What can be done with memories: each file one part of it, plain functions over a Core."""
