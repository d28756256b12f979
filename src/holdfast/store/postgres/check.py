"""Does the database keep its promises? Looks at everything, hub by hub, and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.store.values import Problem

if TYPE_CHECKING:
    from holdfast.store.postgres.reader import PostgresReader

_LISTED_MAX = 20

# Each row: the sentence (with {} for what was found), whether it is derived state, and a query
# that finds (what, memory id) of each place of a hub where the promise is broken. A hub that is
# being moved or imported has its memories before their revisions: that is no damage.
_PROMISES: tuple[tuple[str, bool, str], ...] = (
    (
        "memory #{} has a version that its revisions do not reach",
        False,
        "SELECT m.number, m.id FROM memories m JOIN hubs h ON h.hub_id = m.hub_id"
        " WHERE m.hub_id = %(hub)s AND h.state = 'active' AND m.version <>"
        " (SELECT coalesce(max(r.version), 0) FROM revisions r WHERE r.hub_id = %(hub)s"
        " AND r.memory = m.number)",
    ),
    (
        "memory #{} has gaps in its revisions",
        False,
        "SELECT m.number, m.id FROM memories m JOIN hubs h ON h.hub_id = m.hub_id"
        " WHERE m.hub_id = %(hub)s AND h.state = 'active' AND m.version <>"
        " (SELECT count(*) FROM revisions r WHERE r.hub_id = %(hub)s AND r.memory = m.number)",
    ),
    (
        "hub {} has given out fewer numbers than its memories have",
        False,
        "SELECT h.name, '' FROM hubs h JOIN hub_counts c ON c.hub_id = h.hub_id"
        " WHERE h.hub_id = %(hub)s AND c.numbers <"
        " (SELECT coalesce(max(m.number), 0) FROM memories m WHERE m.hub_id = %(hub)s)",
    ),
    (
        "memory #{} is not in the search index",
        True,
        "SELECT m.number, m.id FROM memories m JOIN hubs h ON h.hub_id = m.hub_id"
        " WHERE m.hub_id = %(hub)s AND m.forgotten_at IS NULL AND h.state = 'active'"
        " AND NOT EXISTS (SELECT 1 FROM passages p WHERE p.hub_id = %(hub)s"
        " AND p.memory = m.number)",
    ),
    (
        "memory #{} is forgotten but still in the search index",
        True,
        "SELECT m.number, m.id FROM memories m WHERE m.hub_id = %(hub)s"
        " AND m.forgotten_at IS NOT NULL AND EXISTS (SELECT 1 FROM passages p"
        " WHERE p.hub_id = %(hub)s AND p.memory = m.number)",
    ),
    (
        "memory #{} has a passage that reaches past its text",
        True,
        "SELECT DISTINCT m.number, m.id FROM passages p JOIN memories m"
        " ON m.hub_id = p.hub_id AND m.number = p.memory"
        " WHERE p.hub_id = %(hub)s AND p.ends > length(m.content)",
    ),
    (
        "memory #{} has a passage without its words",
        True,
        "SELECT DISTINCT m.number, m.id FROM passages p JOIN memories m"
        " ON m.hub_id = p.hub_id AND m.number = p.memory WHERE p.hub_id = %(hub)s"
        " AND NOT EXISTS (SELECT 1 FROM named_words w WHERE w.hub_id = %(hub)s"
        " AND w.passage = p.passage AND w.memory = p.memory)",
    ),
    (
        "the word index has {} entries without a passage",
        True,
        "SELECT count(*), '' FROM named_words w WHERE w.hub_id = %(hub)s AND NOT EXISTS"
        " (SELECT 1 FROM passages p WHERE p.hub_id = %(hub)s AND p.passage = w.passage)"
        " HAVING count(*) > 0",
    ),
    (
        "memory #{} is missing from the substring index",
        True,
        "SELECT DISTINCT m.number, m.id FROM passages p JOIN memories m"
        " ON m.hub_id = p.hub_id AND m.number = p.memory WHERE p.hub_id = %(hub)s"
        " AND NOT EXISTS (SELECT 1 FROM named_substrings s WHERE s.hub_id = %(hub)s"
        " AND s.memory = p.memory)",
    ),
    (
        "the substring index has {} entries without a memory",
        True,
        "SELECT count(*), '' FROM named_substrings s WHERE s.hub_id = %(hub)s AND NOT EXISTS"
        " (SELECT 1 FROM passages p WHERE p.hub_id = %(hub)s AND p.memory = s.memory)"
        " HAVING count(*) > 0",
    ),
    (
        "hub {} has wrong word totals",
        True,
        "SELECT h.name, '' FROM hubs h JOIN hub_counts c ON c.hub_id = h.hub_id"
        " WHERE h.hub_id = %(hub)s AND (c.passages, c.terms) <>"
        " (SELECT count(*), coalesce(sum(w.length), 0)::bigint FROM named_words w"
        " WHERE w.hub_id = %(hub)s)",
    ),
    (
        "hub {} has wrong counts of {} words",
        True,
        "SELECT h.name, count(*)::text FROM hubs h,"
        " (SELECT split_part(l, '·', 2) AS term, count(*) AS passages FROM named_words w,"
        "  unnest(tsvector_to_array(w.words)) AS l WHERE w.hub_id = %(hub)s GROUP BY 1) AS found"
        " FULL JOIN (SELECT * FROM terms t WHERE t.hub_id = %(hub)s) AS t"
        ' ON t.term = found.term COLLATE "C"'
        " WHERE h.hub_id = %(hub)s AND t.passages IS DISTINCT FROM found.passages"
        " GROUP BY h.name",
    ),
    (
        "the index of the conversation log has {} entries too many or too few",
        True,
        "SELECT count(*), '' FROM turns t FULL JOIN named_turn_words w"
        " ON w.hub_id = t.hub_id AND w.place = t.place"
        " WHERE coalesce(t.hub_id, w.hub_id) = %(hub)s AND (t.place IS NULL OR w.place IS NULL)"
        " HAVING count(*) > 0",
    ),
    (
        "hub {} has wrong vector totals",
        True,
        "SELECT DISTINCT h.name, '' FROM hubs h JOIN vector_totals t ON t.hub_id = h.hub_id"
        " WHERE h.hub_id = %(hub)s AND (t.size, t.passages) <>"
        " (SELECT count(*), count(DISTINCT v.passage) FROM vectors v WHERE v.hub_id = %(hub)s"
        " AND v.model = t.model)",
    ),
    (
        "hub {} has vectors that are not counted",
        True,
        "SELECT DISTINCT h.name, '' FROM vectors v JOIN hubs h ON h.hub_id = v.hub_id"
        " WHERE v.hub_id = %(hub)s AND NOT EXISTS (SELECT 1 FROM vector_totals t"
        " WHERE t.hub_id = %(hub)s AND t.model = v.model)",
    ),
    (
        "there are {} vectors without a passage",
        True,
        "SELECT count(*), '' FROM vectors v WHERE v.hub_id = %(hub)s AND NOT EXISTS"
        " (SELECT 1 FROM passages p WHERE p.hub_id = %(hub)s AND p.passage = v.passage)"
        " HAVING count(*) > 0",
    ),
)


def problems(reader: PostgresReader) -> list[Problem]:
    """Everything that is wrong; derived state is told apart because it can be rebuilt."""
    session = reader._session
    out: list[Problem] = []
    for hub in reader.hubs():
        number = session.hub(hub.id)
        for sentence, derived, query in _PROMISES:
            found = session.all(query, hub=number)
            for row in found[:_LISTED_MAX]:
                said = sentence.format(*row)
                counted = sentence.count("{}") > 1
                out.append(Problem(said, derived, "" if counted else row[1], hub.id))
            if len(found) > _LISTED_MAX:
                out.append(Problem(f"and {len(found) - _LISTED_MAX} more of that kind", derived))
    return out
