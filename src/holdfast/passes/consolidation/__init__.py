"""Consolidation of journals into long-term memory."""
