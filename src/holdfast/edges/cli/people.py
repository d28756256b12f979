"""People: members of hubs, teams and organisations, and invitations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.api.people import People
from holdfast.domain.hub import DELETE_POLICIES, ROLES, DeletePolicy, Team
from holdfast.edges.cli import command
from holdfast.edges.cli.bind import Flags, bound, flag
from holdfast.edges.cli.command import Command, Namespace, Parser
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.domain.hub import Member, Org
    from holdfast.edges.cli.call import Call


# Members and invitations are those of the hub in use, unless one of these is named.
_TEAM = flag(metavar="TEAM", about="of a team instead of the hub")
_ORG = flag(metavar="ORG", about="of an organisation instead of the hub")
_ROLE = flag("--role", offers=ROLES, metavar="ROLE", about="owner, admin, contributor, viewer")


def _hub(call: Call, args: Namespace) -> dict[str, str]:
    """The hub in use, unless a team or an organisation is named."""
    if args.team or args.org:
        return {}
    return {"hub": _named_hub(call)}


def _named_hub(call: Call) -> str:
    return call.hub.id if call.client is not None else call.hub.name


# member


_MEMBERS = Flags(People.members, omit=("hub",), team=_TEAM, org=_ORG)


def _members(call: Call, args: Namespace) -> None:
    found = _MEMBERS.run(call, args, **_hub(call, args))
    if call.out.json:
        call.out.value([_plain(member) for member in found])
        return
    rows = [(one.actor, one.role, call.out.time(one.since), one.added_by) for one in found]
    call.out.table(("name", "role", "since", "added by"), rows)


_WHO = flag(about="who")
_SET_MEMBER = Flags(People.set_member, omit=("hub",), actor=_WHO, role=_ROLE, team=_TEAM, org=_ORG)


def _member_set(call: Call, args: Namespace) -> None:
    role = args.role or "contributor"
    _show(call, "set", _SET_MEMBER.run(call, args, role=role, **_hub(call, args)))


_REMOVE_MEMBER = Flags(People.remove_member, omit=("hub",), actor=_WHO, team=_TEAM, org=_ORG)


def _member_remove(call: Call, args: Namespace) -> None:
    _REMOVE_MEMBER.run(call, args, **_hub(call, args))
    call.out.done(
        {"actor": args.actor},
        f"{args.actor} is no member any more.",
        "removed",
        args.actor,
        result="removed",
    )


def _show(call: Call, word: str, member: Member) -> None:
    call.out.done(
        _plain(member),
        f"{member.actor} is {member.role} now.",
        word,
        member.actor,
        member.role,
        result=word,
    )


def _plain(member: Member) -> dict[str, Any]:
    return {**member._asdict(), "since": member.since.isoformat()}


# invite


_INVITE = Flags(
    People.invite,
    omit=("hub",),
    role=_ROLE,
    days=flag(about="how long it is good (7)"),
    team=_TEAM,
    org=_ORG,
)


def _invite(call: Call, args: Namespace) -> None:
    handed = _INVITE.run(call, args, **_hub(call, args))
    if call.out.json:
        value = {"id": handed.what.id, "role": handed.what.role, "token": handed.secret}
        call.out.value({**value, "expires_at": handed.what.expires_at.isoformat()})
        return
    call.out.line(handed.secret)
    call.out.note(
        f"This is shown once, and good once, until {call.out.time(handed.what.expires_at)}."
    )


_ACCEPT = Flags(
    People.accept_invite,
    token=flag(about="what the invitation printed"),
    actor=flag(metavar="WHO", about="who takes the place (you)"),
)


def _show_joined(call: Call, args: Namespace, member: Member) -> None:
    _show(call, "joined", member)


# org, team


_NAME = flag(metavar="NAME", about="its name")
_CREATE_TEAM = Flags(
    People.create_team, name=_NAME, org=flag("--org", metavar="ORG", about="its organisation")
)


def _team_create(call: Call, args: Namespace) -> None:
    if not args.org:
        raise InvalidInput("A team belongs to an organisation.", hint="Name it with --org.")
    _show_group("created")(call, args, _CREATE_TEAM.run(call, args))


def _remove_options(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="its name")
    command.add_yes(parser)


def _org_remove(call: Call, args: Namespace) -> None:
    call.confirm(f"Remove the organisation {args.name}? Hubs stay, for their members.")
    _show_group("removed")(call, args, call.memory.remove_org(args.name))


def _team_remove(call: Call, args: Namespace) -> None:
    call.confirm(f"Remove the team {args.name}? Its hubs stay, for their members.")
    _show_group("removed")(call, args, call.memory.remove_team(args.name))


def _show_group(word: str) -> Callable[[Call, Namespace, Any], None]:
    """Says what was done with a team or an organisation."""

    def show(call: Call, args: Namespace, group: Org | Team) -> None:
        kind = "Team" if isinstance(group, Team) else "Organisation"
        call.out.done(
            {"id": group.id, "name": group.name},
            f"{kind} {group.name} {word}.",
            word,
            group.name,
            group.id,
            result=word,
        )

    return show


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
    # A member of a team who is not in its organisation sees the organisation's id only.
    found = [(one, names.get(one.org_id, one.org_id)) for one in call.memory.teams()]
    if call.out.json:
        rows = [{"id": one.id, "name": one.name, "org": org} for one, org in found]
        call.out.value(rows)
    else:
        table = [(one.name, org, one.id) for one, org in found]
        call.out.table(("name", "organisation", "id"), table)


_SHARE = Flags(
    People.share,
    omit=("hub",),
    team=flag(
        metavar="TEAM",
        about="the team it belongs to; none: nobody's",
        convert=lambda call, name: "" if name == "none" else name,
    ),
    org=flag(
        metavar="ORG",
        about="the organisation it is shared with; none: with none",
        convert=lambda call, name: "" if name == "none" else name,
    ),
    delete_policy=flag(
        "--delete",
        metavar="WHAT",
        offers=DELETE_POLICIES,
        about="what contributors may delete: none, own or any",
    ),
)


def _share(call: Call, args: Namespace) -> None:
    hub = call.hub
    card = _SHARE.run(call, args, hub=_named_hub(call))
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
    """Who it is shared with: by name, or by id where the caller may not see the name."""
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
        _MEMBERS.add_to,
        _members,
        "In a pipe, a line per member: name, role, since when, added by whom.",
        server="works",
    ),
    Command(
        "member set",
        "Add a member, or change their role.",
        "holdfast member set ada --role admin",
        _SET_MEMBER.add_to,
        _member_set,
        "viewer reads; contributor also writes; admin also manages members; owner also renames\n"
        "and deletes the hub. Roles hold for those who come through the server, by their keys.",
        server="works",
    ),
    Command(
        "member remove",
        "Take a member's role away.",
        "holdfast member remove ada",
        _REMOVE_MEMBER.add_to,
        _member_remove,
        server="works",
    ),
    Command(
        "invite create",
        "Make a one-time token that gives a role.",
        "holdfast invite create --role viewer --days 3",
        _INVITE.add_to,
        _invite,
        server="works",
    ),
    bound(
        "invite accept",
        "Take the place that a token offers.",
        "holdfast invite accept TOKEN --actor ada",
        _ACCEPT,
        _show_joined,
    ),
    bound(
        "org create",
        "Make an organisation.",
        "holdfast org create Acme",
        Flags(People.create_org, name=_NAME),
        _show_group("created"),
    ),
    Command(
        "org list", "List the organisations.", "holdfast org list", _none, _org_list, server="works"
    ),
    bound(
        "org rename",
        "Rename an organisation.",
        "holdfast org rename Acme Ajax",
        Flags(People.rename_org, org=_NAME),
        _show_group("renamed"),
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
        _CREATE_TEAM.add_to,
        _team_create,
        server="works",
    ),
    Command(
        "team list", "List the teams.", "holdfast team list", _none, _team_list, server="works"
    ),
    bound(
        "team rename",
        "Rename a team.",
        "holdfast team rename Tools Makers",
        Flags(People.rename_team, team=_NAME),
        _show_group("renamed"),
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
        _SHARE.add_to,
        _share,
        "Members of the team then read what has the boundary team or org; those of the\n"
        "organisation, what has the boundary org.",
        server="works",
    ),
)
