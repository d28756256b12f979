"""People: members of hubs, teams and organisations, and invitations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.domain.access import DELETE_POLICIES, ROLES, DeletePolicy, Team
from holdfast.edges.cli import command
from holdfast.edges.cli.command import Command, Namespace, Parser, whole
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.domain.access import Member, Org
    from holdfast.edges.cli.call import Call


def _add_scope(parser: Parser) -> None:
    parser.add_argument("--team", metavar="TEAM", help="of a team instead of the hub")
    parser.add_argument("--org", metavar="ORG", help="of an organisation instead of the hub")


def _scope(call: Call, args: Namespace) -> dict[str, str | None]:
    """The team or organisation that is meant, else the hub."""
    if args.team or args.org:
        return {"team": args.team, "org": args.org}
    return {"hub": call.hub.id if call.client is not None else call.hub.name}


# member


def _members_options(parser: Parser) -> None:
    _add_scope(parser)


def _members(call: Call, args: Namespace) -> None:
    found = call.memory.members(**_scope(call, args))
    if call.out.json:
        call.out.value([_plain(member) for member in found])
        return
    rows = [(one.actor, one.role, call.out.time(one.since), one.added_by) for one in found]
    call.out.table(("name", "role", "since", "added by"), rows)


def _member_set_options(parser: Parser) -> None:
    parser.add_argument("actor", metavar="NAME", help="who")
    parser.offer("--role", ROLES, default="contributor", help="owner, admin, contributor, viewer")
    _add_scope(parser)


def _member_set(call: Call, args: Namespace) -> None:
    _show(call, "set", call.memory.set_member(args.actor, args.role, **_scope(call, args)))


def _member_remove_options(parser: Parser) -> None:
    parser.add_argument("actor", metavar="NAME", help="who")
    _add_scope(parser)


def _member_remove(call: Call, args: Namespace) -> None:
    call.memory.remove_member(args.actor, **_scope(call, args))
    if call.out.json:
        call.out.value({"actor": args.actor}, result="removed")
    elif call.out.terminal:
        call.out.line(f"{args.actor} is no member any more.", "green")
    else:
        call.out.row("removed", args.actor)


def _show(call: Call, word: str, member: Member) -> None:
    if call.out.json:
        call.out.value(_plain(member), result=word)
    elif call.out.terminal:
        call.out.line(f"{member.actor} is {member.role} now.", "green")
    else:
        call.out.row(word, member.actor, member.role)


def _plain(member: Member) -> dict[str, Any]:
    return {**member._asdict(), "since": member.since.isoformat()}


# invite


def _invite_options(parser: Parser) -> None:
    parser.offer("--role", ROLES, default="contributor", help="owner, admin, contributor, viewer")
    parser.add_argument(
        "--days", type=whole, default=7, metavar="N", help="how long it is good (7)"
    )
    _add_scope(parser)


def _invite(call: Call, args: Namespace) -> None:
    handed = call.memory.invite(args.role, days=args.days, **_scope(call, args))
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
    _show(call, "joined", call.memory.accept_invite(args.token, actor=args.actor))


# org, team


def _name_options(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="its name")


def _org_create(call: Call, args: Namespace) -> None:
    _show_group(call, "created", call.memory.create_org(args.name))


def _team_create_options(parser: Parser) -> None:
    _name_options(parser)
    parser.add_argument("--org", metavar="ORG", help="its organisation")


def _team_create(call: Call, args: Namespace) -> None:
    if not args.org:
        raise InvalidInput("A team belongs to an organisation.", hint="Name it with --org.")
    _show_group(call, "created", call.memory.create_team(args.name, org=args.org))


def _rename_options(parser: Parser) -> None:
    _name_options(parser)
    parser.add_argument("new", metavar="NEW", help="its new name")


def _org_rename(call: Call, args: Namespace) -> None:
    _show_group(call, "renamed", call.memory.rename_org(args.name, args.new))


def _team_rename(call: Call, args: Namespace) -> None:
    _show_group(call, "renamed", call.memory.rename_team(args.name, args.new))


def _remove_options(parser: Parser) -> None:
    _name_options(parser)
    command.add_yes(parser)


def _org_remove(call: Call, args: Namespace) -> None:
    call.confirm(f"Remove the organisation {args.name}? Hubs stay, for their members.")
    _show_group(call, "removed", call.memory.remove_org(args.name))


def _team_remove(call: Call, args: Namespace) -> None:
    call.confirm(f"Remove the team {args.name}? Its hubs stay, for their members.")
    _show_group(call, "removed", call.memory.remove_team(args.name))


def _show_group(call: Call, word: str, group: Org | Team) -> None:
    if call.out.json:
        call.out.value({"id": group.id, "name": group.name}, result=word)
    elif call.out.terminal:
        kind = "Team" if isinstance(group, Team) else "Organisation"
        call.out.line(f"{kind} {group.name} {word}.", "green")
    else:
        call.out.row(word, group.name, group.id)


def _none(parser: Parser) -> None:
    """None of its own."""


def _org_list(call: Call, args: Namespace) -> None:
    found = call.memory.orgs()
    if call.out.json:
        call.out.value([{"id": one.id, "name": one.name} for one in found])
    else:
        call.out.table(("name", "id"), [(one.name, one.id) for one in found])


def _team_list(call: Call, args: Namespace) -> None:
    names = {org.id: org.name for org in call.memory.orgs()}
    # Whoever is in a team and not in its organisation knows that one by its id.
    found = [(one, names.get(one.org_id, one.org_id)) for one in call.memory.teams()]
    if call.out.json:
        rows = [{"id": one.id, "name": one.name, "org": org} for one, org in found]
        call.out.value(rows)
    else:
        table = [(one.name, org, one.id) for one, org in found]
        call.out.table(("name", "organisation", "id"), table)


def _share_options(parser: Parser) -> None:
    parser.add_argument("--team", metavar="TEAM", help="the team it belongs to; none: nobody's")
    parser.add_argument(
        "--org", metavar="ORG", help="the organisation it is shared with; none: with none"
    )
    parser.offer("--delete", DELETE_POLICIES, help="what contributors may delete: none, own or any")


def _share(call: Call, args: Namespace) -> None:
    hub = call.hub
    card = call.memory.share(
        hub.id if call.client is not None else hub.name,
        team="" if args.team == "none" else args.team,
        org="" if args.org == "none" else args.org,
        delete_policy=args.delete,
    )
    if call.out.json:
        plain = {"hub": hub.name, "team": card.team_id, "org": card.org_id}
        call.out.value({**plain, "delete": card.delete_policy})
    elif call.out.terminal:
        call.out.line(_shared(call, hub.name, card.team_id, card.org_id))
        call.out.line(f"Contributors may delete {_DELETED[card.delete_policy]}.")
    else:
        shared_with = card.team_id or card.org_id or "no team"
        call.out.row(hub.name, shared_with, f"delete {card.delete_policy}")


_DELETED: dict[DeletePolicy, str] = {
    "none": "nothing",
    "own": "what is their own",
    "any": "anything",
}


def _shared(call: Call, hub: str, team: str | None, org: str | None) -> str:
    """With whom, by name; by the id where the name is not for whoever asks."""
    if team:
        names = {one.id: one.name for one in call.memory.teams()}
        return f"Hub {hub} belongs to the team {names.get(team, team)}."
    if org:
        names = {one.id: one.name for one in call.memory.orgs()}
        return f"Hub {hub} is shared with the organisation {names.get(org, org)}."
    return f"Hub {hub} is shared with no team and no organisation."


COMMANDS = (
    Command(
        "member list",
        "List the members of the hub, a team or an organisation.",
        "holdfast member list",
        _members_options,
        _members,
        "In a pipe, a line per member: name, role, since when, added by whom.",
        server="works",
    ),
    Command(
        "member set",
        "Add a member, or change their role.",
        "holdfast member set ada --role admin",
        _member_set_options,
        _member_set,
        "viewer reads; contributor also writes; admin also manages members; owner also renames\n"
        "and deletes the hub. Roles hold for those who come through the server, by their keys.",
        server="works",
    ),
    Command(
        "member remove",
        "Take a member's role away.",
        "holdfast member remove ada",
        _member_remove_options,
        _member_remove,
        server="works",
    ),
    Command(
        "invite create",
        "Make a one-time token that gives a role.",
        "holdfast invite create --role viewer --days 3",
        _invite_options,
        _invite,
        server="works",
    ),
    Command(
        "invite accept",
        "Take the place that a token offers.",
        "holdfast invite accept TOKEN --actor ada",
        _accept_options,
        _accept,
        server="works",
    ),
    Command(
        "org create",
        "Make an organisation.",
        "holdfast org create Acme",
        _name_options,
        _org_create,
        server="works",
    ),
    Command(
        "org list", "List the organisations.", "holdfast org list", _none, _org_list, server="works"
    ),
    Command(
        "org rename",
        "Rename an organisation.",
        "holdfast org rename Acme Ajax",
        _rename_options,
        _org_rename,
        server="works",
    ),
    Command(
        "org remove",
        "Remove an organisation that has no teams any more.",
        "holdfast org remove Ajax --yes",
        _remove_options,
        _org_remove,
        "Hubs that were shared with it stay, for their members.",
        server="works",
    ),
    Command(
        "team create",
        "Make a team of an organisation.",
        "holdfast team create Tools --org Acme",
        _team_create_options,
        _team_create,
        server="works",
    ),
    Command(
        "team list", "List the teams.", "holdfast team list", _none, _team_list, server="works"
    ),
    Command(
        "team rename",
        "Rename a team.",
        "holdfast team rename Tools Makers",
        _rename_options,
        _team_rename,
        server="works",
    ),
    Command(
        "team remove",
        "Remove a team; its hubs stay.",
        "holdfast team remove Makers --yes",
        _remove_options,
        _team_remove,
        "Its hubs then belong to no team: what had the boundary team or org is for the members\n"
        "of the hub, until it is given to another team.",
        server="works",
    ),
    Command(
        "share",
        "Give the hub to a team, share it with an organisation, or say what may be deleted.",
        "holdfast share --team Tools --delete own",
        _share_options,
        _share,
        "Members of the team then read what has the boundary team or org; those of the\n"
        "organisation, what has the boundary org.",
        server="works",
    ),
)
