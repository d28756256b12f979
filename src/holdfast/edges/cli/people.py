"""People: members of hubs, teams and organisations, and invitations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from holdfast.domain.access import DELETE_POLICIES, ROLES
from holdfast.edges.cli.command import Command, Namespace, Parser, whole
from holdfast.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from holdfast.domain.access import Member, ScopeKind
    from holdfast.edges.cli.call import Call


def _add_scope(parser: Parser) -> None:
    parser.add_argument("--team", metavar="TEAM", help="of a team instead of the hub")
    parser.add_argument("--org", metavar="ORG", help="of an organisation instead of the hub")


def _refuse_scope(call: Call, args: Namespace) -> None:
    """Through a server, people belong to hubs; whoever runs it sets up the rest."""
    if args.team or args.org:
        raise InvalidInput(
            f"Teams and organisations are set up on the machine of {call.server}.",
            hint="Leave out --team and --org, or run it there.",
        )


def _scope(call: Call, args: Namespace) -> tuple[ScopeKind, str]:
    if args.team:
        return "team", _team(call, args.team)
    if args.org:
        return "org", _org(call, args.org)
    return "hub", call.hub.id


def _org(call: Call, name: str) -> str:
    from holdfast.engine import access

    for org in access.orgs(call.memory.core):
        if name in (org.id, org.name):
            return org.id
    raise NotFound(f"There is no organisation {name!r}.", hint="`holdfast org list` shows them.")


def _team(call: Call, name: str) -> str:
    from holdfast.engine import access

    found = [team for team in access.teams(call.memory.core) if name in (team.id, team.name)]
    if len(found) == 1:
        return found[0].id
    if found:
        raise NotFound(f"Several teams are called {name!r}.", hint="Name it by its id.")
    raise NotFound(f"There is no team {name!r}.", hint="`holdfast team list` shows them.")


# member


def _members_options(parser: Parser) -> None:
    _add_scope(parser)


def _members(call: Call, args: Namespace) -> None:
    from holdfast.engine import access

    if call.client is not None:
        _refuse_scope(call, args)
        found = call.client.members()
    else:
        found = access.members(call.memory.core, *_scope(call, args))
    if call.out.json:
        call.out.value({"members": [_plain(member) for member in found]})
        return
    rows = [(one.actor, one.role, call.out.time(one.since), one.added_by) for one in found]
    call.out.table(("name", "role", "since", "added by"), rows)


def _member_set_options(parser: Parser) -> None:
    parser.add_argument("actor", metavar="NAME", help="who")
    parser.offer("--role", ROLES, default="contributor", help="owner, admin, contributor, viewer")
    _add_scope(parser)


def _member_set(call: Call, args: Namespace) -> None:
    from holdfast.engine import access

    if call.client is not None:
        _refuse_scope(call, args)
        member = call.client.set_member(args.actor, args.role)
    else:
        member = access.set_member(call.memory.core, *_scope(call, args), args.actor, args.role)
    _show(call, "set", member)


def _member_remove_options(parser: Parser) -> None:
    parser.add_argument("actor", metavar="NAME", help="who")
    _add_scope(parser)


def _member_remove(call: Call, args: Namespace) -> None:
    from holdfast.engine import access

    if call.client is not None:
        _refuse_scope(call, args)
        call.client.remove_member(args.actor)
    else:
        access.remove_member(call.memory.core, *_scope(call, args), args.actor)
    if call.out.json:
        call.out.value({"result": "removed", "actor": args.actor})
    elif call.out.terminal:
        call.out.line(f"{args.actor} is no member any more.", "green")
    else:
        call.out.row("removed", args.actor)


def _show(call: Call, word: str, member: Member) -> None:
    if call.out.json:
        call.out.value({"result": word, "member": _plain(member)})
    elif call.out.terminal:
        call.out.line(f"{member.actor} is {member.role} now.", "green")
    else:
        call.out.row(word, member.actor, member.role)


def _plain(member: Member) -> dict[str, Any]:
    return {
        "scope": member.scope,
        "scope_id": member.scope_id,
        "actor": member.actor,
        "role": member.role,
        "since": member.since.isoformat(),
        "added_by": member.added_by,
    }


# invite


def _invite_options(parser: Parser) -> None:
    parser.offer("--role", ROLES, default="contributor", help="owner, admin, contributor, viewer")
    parser.add_argument(
        "--days", type=whole, default=7, metavar="N", help="how long it is good (7)"
    )
    _add_scope(parser)


def _invite(call: Call, args: Namespace) -> None:
    from holdfast.engine import invites

    if call.client is not None:
        _refuse_scope(call, args)
        handed = call.client.invite(args.role, days=args.days)
    else:
        scope = _scope(call, args)
        handed = invites.invite(call.memory.core, *scope, args.role, days=args.days)
    if call.out.json:
        value = {"id": handed.what.id, "role": handed.what.role, "token": handed.secret}
        call.out.value({**value, "expires_at": handed.what.expires_at.isoformat()})
        return
    call.out.line(handed.secret)
    call.out.note(
        f"This is shown once, and good once, until {call.out.time(handed.what.expires_at)}."
    )


def _accept_options(parser: Parser) -> None:
    parser.add_argument("token", metavar="TOKEN", help="what the invitation printed")
    parser.add_argument("--actor", metavar="WHO", help="who takes the place (you)")


def _accept(call: Call, args: Namespace) -> None:
    from holdfast.engine import invites

    if call.client is not None:
        if args.actor:
            raise InvalidInput("Through a server, whoever has the key takes the place.")
        _show(call, "joined", call.client.accept_invite(args.token))
        return
    core = call.memory.core
    _show(call, "joined", invites.accept(core, args.token, args.actor or core.actor))


# org, team


def _name_options(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="its name")


def _org_create(call: Call, args: Namespace) -> None:
    from holdfast.engine import access

    org = access.create_org(call.memory.core, args.name)
    _made(call, org.id, org.name)


def _team_create_options(parser: Parser) -> None:
    _name_options(parser)
    parser.add_argument("--org", metavar="ORG", help="its organisation")


def _team_create(call: Call, args: Namespace) -> None:
    from holdfast.engine import access

    if not args.org:
        raise InvalidInput("A team belongs to an organisation.", hint="Name it with --org.")
    team = access.create_team(call.memory.core, _org(call, args.org), args.name)
    _made(call, team.id, team.name)


def _made(call: Call, record_id: str, name: str) -> None:
    if call.out.json:
        call.out.value({"result": "created", "id": record_id, "name": name})
    else:
        call.out.row("created", name, record_id)


def _none(parser: Parser) -> None:
    """None of its own."""


def _org_list(call: Call, args: Namespace) -> None:
    from holdfast.engine import access

    found = access.orgs(call.memory.core)
    if call.out.json:
        call.out.value({"orgs": [{"id": one.id, "name": one.name} for one in found]})
    else:
        call.out.table(("name", "id"), [(one.name, one.id) for one in found])


def _team_list(call: Call, args: Namespace) -> None:
    from holdfast.engine import access

    names = {org.id: org.name for org in access.orgs(call.memory.core)}
    found = access.teams(call.memory.core)
    if call.out.json:
        rows = [{"id": one.id, "name": one.name, "org": names[one.org_id]} for one in found]
        call.out.value({"teams": rows})
    else:
        table = [(one.name, names[one.org_id], one.id) for one in found]
        call.out.table(("name", "organisation", "id"), table)


def _share_options(parser: Parser) -> None:
    parser.add_argument("--team", metavar="TEAM", help="the team it belongs to; none: nobody's")
    parser.offer("--delete", DELETE_POLICIES, help="what contributors may delete: none, own or any")


def _share(call: Call, args: Namespace) -> None:
    from holdfast.engine import access

    team = args.team
    team_id = None if team is None else "" if team == "none" else _team(call, team)
    card = access.set_card(
        call.memory.core, call.hub.id, team_id=team_id, delete_policy=cast("Any", args.delete)
    )
    if call.out.json:
        call.out.value({"hub": call.hub.name, "team": card.team_id, "delete": card.delete_policy})
    else:
        call.out.row(call.hub.name, card.team_id or "no team", f"delete {card.delete_policy}")


COMMANDS = (
    Command(
        "member list",
        "List the members of the hub, a team or an organisation.",
        "holdfast member list",
        _members_options,
        _members,
        "In a pipe, a line per member: name, role, since when, added by whom.",
    ),
    Command(
        "member set",
        "Add a member, or change their role.",
        "holdfast member set ada --role admin",
        _member_set_options,
        _member_set,
        "viewer reads; contributor also writes; admin also manages members; owner also renames\n"
        "and deletes the hub. Roles hold for those who come through the server, by their keys.",
    ),
    Command(
        "member remove",
        "Take a member's role away.",
        "holdfast member remove ada",
        _member_remove_options,
        _member_remove,
    ),
    Command(
        "invite create",
        "Make a one-time token that gives a role.",
        "holdfast invite create --role viewer --days 3",
        _invite_options,
        _invite,
    ),
    Command(
        "invite accept",
        "Take the place that a token offers.",
        "holdfast invite accept TOKEN --actor ada",
        _accept_options,
        _accept,
    ),
    Command(
        "org create",
        "Make an organisation.",
        "holdfast org create Acme",
        _name_options,
        _org_create,
    ),
    Command("org list", "List the organisations.", "holdfast org list", _none, _org_list),
    Command(
        "team create",
        "Make a team of an organisation.",
        "holdfast team create Tools --org Acme",
        _team_create_options,
        _team_create,
    ),
    Command("team list", "List the teams.", "holdfast team list", _none, _team_list),
    Command(
        "share",
        "Give the hub to a team, or say what its contributors may delete.",
        "holdfast share --team Tools --delete own",
        _share_options,
        _share,
        "Members of the team then read what has the boundary team or org; those of the\n"
        "organisation, what has the boundary org.",
    ),
)
