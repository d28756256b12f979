// Made from the description of the REST API by `make reference`. Do not edit it.
// The file `index.js` beside it sends the requests.
export const operations = {
  "acceptInvite": {
    "method": "POST",
    "path": "/v1/invites/accept",
    "sends": "body",
    "returns": "data"
  },
  "archiveConversation": {
    "method": "POST",
    "path": "/v1/conversations",
    "sends": "body",
    "returns": "data"
  },
  "captured": {
    "method": "GET",
    "path": "/v1/captured",
    "sends": "query",
    "returns": "data"
  },
  "context": {
    "method": "GET",
    "path": "/v1/context",
    "sends": "query",
    "returns": "data"
  },
  "events": {
    "method": "GET",
    "path": "/v1/events",
    "sends": "nothing",
    "returns": "response"
  },
  "export": {
    "method": "GET",
    "path": "/v1/export",
    "sends": "nothing",
    "returns": "response"
  },
  "flush": {
    "method": "POST",
    "path": "/v1/flush",
    "sends": "body",
    "returns": "data"
  },
  "heard": {
    "method": "POST",
    "path": "/v1/heard",
    "sends": "body",
    "returns": "data"
  },
  "lifecycle": {
    "method": "POST",
    "path": "/v1/lifecycle",
    "sends": "body",
    "returns": "data"
  },
  "listJobs": {
    "method": "GET",
    "path": "/v1/jobs",
    "sends": "query",
    "returns": "data"
  },
  "modelUsage": {
    "method": "GET",
    "path": "/v1/model-usage",
    "sends": "query",
    "returns": "data"
  },
  "observeTurn": {
    "method": "POST",
    "path": "/v1/observe",
    "sends": "body",
    "returns": "data"
  },
  "recall": {
    "method": "POST",
    "path": "/v1/recall",
    "sends": "body",
    "returns": "whole"
  },
  "receipts": {
    "method": "GET",
    "path": "/v1/receipts",
    "sends": "nothing",
    "returns": "data"
  },
  "thisHub": {
    "method": "GET",
    "path": "/v1/hub",
    "sends": "nothing",
    "returns": "whole"
  },
  "topics": {
    "method": "GET",
    "path": "/v1/topics",
    "sends": "nothing",
    "returns": "data"
  },
  "undo": {
    "method": "POST",
    "path": "/v1/undo",
    "sends": "body",
    "returns": "data"
  },
  "usage": {
    "method": "GET",
    "path": "/v1/usage",
    "sends": "nothing",
    "returns": "data"
  },
  "changes.list": {
    "method": "GET",
    "path": "/v1/changes",
    "sends": "query",
    "returns": "data"
  },
  "changes.touched": {
    "method": "POST",
    "path": "/v1/changes/touched",
    "sends": "body",
    "returns": "data"
  },
  "consolidation.consolidate": {
    "method": "POST",
    "path": "/v1/consolidation",
    "sends": "body",
    "returns": "data"
  },
  "consolidation.plan": {
    "method": "POST",
    "path": "/v1/consolidation/plan",
    "sends": "nothing",
    "returns": "data"
  },
  "decisions.decide": {
    "method": "POST",
    "path": "/v1/decisions/decide",
    "sends": "body",
    "returns": "data"
  },
  "decisions.list": {
    "method": "GET",
    "path": "/v1/decisions",
    "sends": "query",
    "returns": "data"
  },
  "decisions.request": {
    "method": "POST",
    "path": "/v1/decisions",
    "sends": "body",
    "returns": "data"
  },
  "decisions.withdraw": {
    "method": "POST",
    "path": "/v1/decisions/withdraw",
    "sends": "body",
    "returns": "data"
  },
  "hubs.change": {
    "method": "PATCH",
    "path": "/v1/hubs/{hub_id}",
    "sends": "body",
    "returns": "data"
  },
  "hubs.create": {
    "method": "POST",
    "path": "/v1/hubs",
    "sends": "body",
    "returns": "data"
  },
  "hubs.createInvite": {
    "method": "POST",
    "path": "/v1/hubs/{hub_id}/invites",
    "sends": "body",
    "returns": "data"
  },
  "hubs.delete": {
    "method": "DELETE",
    "path": "/v1/hubs/{hub_id}",
    "sends": "nothing",
    "returns": "data"
  },
  "hubs.get": {
    "method": "GET",
    "path": "/v1/hubs/{hub_id}",
    "sends": "nothing",
    "returns": "data"
  },
  "hubs.list": {
    "method": "GET",
    "path": "/v1/hubs",
    "sends": "nothing",
    "returns": "data"
  },
  "hubs.listInvites": {
    "method": "GET",
    "path": "/v1/hubs/{hub_id}/invites",
    "sends": "nothing",
    "returns": "data"
  },
  "hubs.listMembers": {
    "method": "GET",
    "path": "/v1/hubs/{hub_id}/members",
    "sends": "nothing",
    "returns": "data"
  },
  "hubs.removeMember": {
    "method": "DELETE",
    "path": "/v1/hubs/{hub_id}/members/{actor}",
    "sends": "nothing",
    "returns": "data"
  },
  "hubs.setMember": {
    "method": "PUT",
    "path": "/v1/hubs/{hub_id}/members/{actor}",
    "sends": "body",
    "returns": "data"
  },
  "hubs.withdrawInvite": {
    "method": "DELETE",
    "path": "/v1/hubs/{hub_id}/invites/{invite_id}",
    "sends": "nothing",
    "returns": "data"
  },
  "journal.add": {
    "method": "POST",
    "path": "/v1/journal",
    "sends": "body",
    "returns": "data"
  },
  "journal.read": {
    "method": "GET",
    "path": "/v1/journal",
    "sends": "query",
    "returns": "whole"
  },
  "keys.create": {
    "method": "POST",
    "path": "/v1/keys",
    "sends": "body",
    "returns": "data"
  },
  "keys.list": {
    "method": "GET",
    "path": "/v1/keys",
    "sends": "nothing",
    "returns": "data"
  },
  "keys.revoke": {
    "method": "DELETE",
    "path": "/v1/keys/{key_id}",
    "sends": "nothing",
    "returns": "data"
  },
  "log.forgetTurns": {
    "method": "POST",
    "path": "/v1/log/forget",
    "sends": "body",
    "returns": "data"
  },
  "log.pause": {
    "method": "POST",
    "path": "/v1/log/pause",
    "sends": "body",
    "returns": "data"
  },
  "log.recovery": {
    "method": "GET",
    "path": "/v1/log/recovery",
    "sends": "query",
    "returns": "data"
  },
  "log.resume": {
    "method": "POST",
    "path": "/v1/log/resume",
    "sends": "nothing",
    "returns": "data"
  },
  "log.rules": {
    "method": "GET",
    "path": "/v1/log/rules",
    "sends": "nothing",
    "returns": "data"
  },
  "log.searchTurns": {
    "method": "GET",
    "path": "/v1/log/search",
    "sends": "query",
    "returns": "data"
  },
  "log.setLogAside": {
    "method": "POST",
    "path": "/v1/log/aside",
    "sends": "body",
    "returns": "data"
  },
  "log.size": {
    "method": "GET",
    "path": "/v1/log/size",
    "sends": "nothing",
    "returns": "data"
  },
  "log.speakers": {
    "method": "GET",
    "path": "/v1/log/speakers",
    "sends": "query",
    "returns": "data"
  },
  "log.turn": {
    "method": "POST",
    "path": "/v1/log",
    "sends": "body",
    "returns": "data"
  },
  "log.turns": {
    "method": "GET",
    "path": "/v1/log",
    "sends": "query",
    "returns": "data"
  },
  "memories.access": {
    "method": "POST",
    "path": "/v1/memories/{memory_id}/access",
    "sends": "nothing",
    "returns": "data"
  },
  "memories.accessMany": {
    "method": "POST",
    "path": "/v1/memories/batch-access",
    "sends": "body",
    "returns": "data"
  },
  "memories.archive": {
    "method": "POST",
    "path": "/v1/memories/{memory_id}/archive",
    "sends": "query",
    "returns": "data"
  },
  "memories.archiveMany": {
    "method": "POST",
    "path": "/v1/memories/batch-archive",
    "sends": "body",
    "returns": "data"
  },
  "memories.attachment": {
    "method": "GET",
    "path": "/v1/memories/{memory_id}/attachment",
    "sends": "nothing",
    "returns": "response"
  },
  "memories.batchDelete": {
    "method": "POST",
    "path": "/v1/memories/batch-delete",
    "sends": "body",
    "returns": "data"
  },
  "memories.batchMove": {
    "method": "POST",
    "path": "/v1/memories/batch-move",
    "sends": "body",
    "returns": "data"
  },
  "memories.delete": {
    "method": "DELETE",
    "path": "/v1/memories/{memory_id}",
    "sends": "query",
    "returns": "data"
  },
  "memories.diff": {
    "method": "GET",
    "path": "/v1/memories/{memory_id}/diff",
    "sends": "query",
    "returns": "data"
  },
  "memories.find": {
    "method": "GET",
    "path": "/v1/memories/find",
    "sends": "query",
    "returns": "data"
  },
  "memories.forget": {
    "method": "POST",
    "path": "/v1/memories/{memory_id}/forget",
    "sends": "query",
    "returns": "data"
  },
  "memories.forgetMany": {
    "method": "POST",
    "path": "/v1/memories/batch-forget",
    "sends": "body",
    "returns": "data"
  },
  "memories.get": {
    "method": "GET",
    "path": "/v1/memories/{memory_id}",
    "sends": "query",
    "returns": "data"
  },
  "memories.history": {
    "method": "GET",
    "path": "/v1/memories/{memory_id}/history",
    "sends": "nothing",
    "returns": "data"
  },
  "memories.list": {
    "method": "GET",
    "path": "/v1/memories",
    "sends": "query",
    "returns": "whole"
  },
  "memories.patch": {
    "method": "PATCH",
    "path": "/v1/memories/{memory_id}",
    "sends": "body",
    "returns": "data"
  },
  "memories.pin": {
    "method": "POST",
    "path": "/v1/memories/{memory_id}/pin",
    "sends": "nothing",
    "returns": "data"
  },
  "memories.push": {
    "method": "POST",
    "path": "/v1/memories",
    "sends": "body",
    "returns": "whole"
  },
  "memories.pushMany": {
    "method": "POST",
    "path": "/v1/memories/batch",
    "sends": "body",
    "returns": "data"
  },
  "memories.related": {
    "method": "GET",
    "path": "/v1/memories/{memory_id}/related",
    "sends": "query",
    "returns": "whole"
  },
  "memories.restore": {
    "method": "POST",
    "path": "/v1/memories/{memory_id}/restore",
    "sends": "query",
    "returns": "data"
  },
  "memories.restoreMany": {
    "method": "POST",
    "path": "/v1/memories/batch-restore",
    "sends": "body",
    "returns": "data"
  },
  "memories.scan": {
    "method": "GET",
    "path": "/v1/memories/scan",
    "sends": "query",
    "returns": "data"
  },
  "memories.search": {
    "method": "GET",
    "path": "/v1/memories/search",
    "sends": "query",
    "returns": "data"
  },
  "memories.traces": {
    "method": "GET",
    "path": "/v1/memories/{memory_id}/traces",
    "sends": "nothing",
    "returns": "data"
  },
  "memories.unpin": {
    "method": "POST",
    "path": "/v1/memories/{memory_id}/unpin",
    "sends": "nothing",
    "returns": "data"
  },
  "memories.upload": {
    "method": "POST",
    "path": "/v1/memories/upload",
    "sends": "form",
    "returns": "whole"
  },
  "orgs.create": {
    "method": "POST",
    "path": "/v1/orgs",
    "sends": "body",
    "returns": "data"
  },
  "orgs.createInvite": {
    "method": "POST",
    "path": "/v1/orgs/{org_id}/invites",
    "sends": "body",
    "returns": "data"
  },
  "orgs.get": {
    "method": "GET",
    "path": "/v1/orgs/{org_id}",
    "sends": "nothing",
    "returns": "data"
  },
  "orgs.list": {
    "method": "GET",
    "path": "/v1/orgs",
    "sends": "nothing",
    "returns": "data"
  },
  "orgs.listInvites": {
    "method": "GET",
    "path": "/v1/orgs/{org_id}/invites",
    "sends": "nothing",
    "returns": "data"
  },
  "orgs.listMembers": {
    "method": "GET",
    "path": "/v1/orgs/{org_id}/members",
    "sends": "nothing",
    "returns": "data"
  },
  "orgs.remove": {
    "method": "DELETE",
    "path": "/v1/orgs/{org_id}",
    "sends": "nothing",
    "returns": "data"
  },
  "orgs.removeMember": {
    "method": "DELETE",
    "path": "/v1/orgs/{org_id}/members/{actor}",
    "sends": "nothing",
    "returns": "data"
  },
  "orgs.rename": {
    "method": "PATCH",
    "path": "/v1/orgs/{org_id}",
    "sends": "body",
    "returns": "data"
  },
  "orgs.setMember": {
    "method": "PUT",
    "path": "/v1/orgs/{org_id}/members/{actor}",
    "sends": "body",
    "returns": "data"
  },
  "orgs.withdrawInvite": {
    "method": "DELETE",
    "path": "/v1/orgs/{org_id}/invites/{invite_id}",
    "sends": "nothing",
    "returns": "data"
  },
  "review.approve": {
    "method": "POST",
    "path": "/v1/review/approve",
    "sends": "body",
    "returns": "data"
  },
  "review.count": {
    "method": "GET",
    "path": "/v1/review/count",
    "sends": "nothing",
    "returns": "data"
  },
  "review.list": {
    "method": "GET",
    "path": "/v1/review",
    "sends": "query",
    "returns": "data"
  },
  "review.reject": {
    "method": "POST",
    "path": "/v1/review/reject",
    "sends": "body",
    "returns": "data"
  },
  "teams.create": {
    "method": "POST",
    "path": "/v1/teams",
    "sends": "body",
    "returns": "data"
  },
  "teams.createInvite": {
    "method": "POST",
    "path": "/v1/teams/{team_id}/invites",
    "sends": "body",
    "returns": "data"
  },
  "teams.get": {
    "method": "GET",
    "path": "/v1/teams/{team_id}",
    "sends": "nothing",
    "returns": "data"
  },
  "teams.list": {
    "method": "GET",
    "path": "/v1/teams",
    "sends": "nothing",
    "returns": "data"
  },
  "teams.listInvites": {
    "method": "GET",
    "path": "/v1/teams/{team_id}/invites",
    "sends": "nothing",
    "returns": "data"
  },
  "teams.listMembers": {
    "method": "GET",
    "path": "/v1/teams/{team_id}/members",
    "sends": "nothing",
    "returns": "data"
  },
  "teams.remove": {
    "method": "DELETE",
    "path": "/v1/teams/{team_id}",
    "sends": "nothing",
    "returns": "data"
  },
  "teams.removeMember": {
    "method": "DELETE",
    "path": "/v1/teams/{team_id}/members/{actor}",
    "sends": "nothing",
    "returns": "data"
  },
  "teams.rename": {
    "method": "PATCH",
    "path": "/v1/teams/{team_id}",
    "sends": "body",
    "returns": "data"
  },
  "teams.setMember": {
    "method": "PUT",
    "path": "/v1/teams/{team_id}/members/{actor}",
    "sends": "body",
    "returns": "data"
  },
  "teams.withdrawInvite": {
    "method": "DELETE",
    "path": "/v1/teams/{team_id}/invites/{invite_id}",
    "sends": "nothing",
    "returns": "data"
  }
};
