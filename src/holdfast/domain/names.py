"""Names and references that were checked, as types of their own.

Code that decides what somebody may do takes these and no `str`, so that the type checker refuses
text that was never parsed. `text.names` is the only module that makes them from what a caller gave;
values read back from the store were parsed before they were written.
"""

from typing import NewType

# A person or an agent: whoever owns hubs and memories, belongs to places, and uses keys.
PersonName = NewType("PersonName", str)
# No person has it: names are not empty.
NOBODY = PersonName("")
# The name of an organisation, a team or an API key.
Label = NewType("Label", str)
# A hub, a team or an organisation as a caller refers to it: by name or by id.
PlaceRef = NewType("PlaceRef", str)
# The id of an API key, an invitation or another record.
RecordId = NewType("RecordId", str)
