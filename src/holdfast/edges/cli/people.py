"""Commands for members of hubs, teams and organisations, and for invitations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.api.people import People
from holdfast.domain.clock import to_text
from holdfast.domain.hub import DELETE_POLICIES, ROLES, DeletePolicy, Team
from holdfast.edges.cli.bind import Flags, flag
from holdfast.edges.cli.command import Commands, Namespace
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.domain.hub import Member, Org
    from holdfast.edges.cli.call import Call
    from holdfast.engine.people.records import HandedInvite

COMMANDS = Commands()


# Without these options, a command is about the hub in use.
_TEAM = flag(metavar="TEAM", about="of a team instead of the hub")
_ORG = flag(metavar="ORG", about="of an organisation instead of the hub")
_ROLE = flag("--role", offers=ROLES, metavar="ROLE", about="owner, admin, contributor, viewer")


def _hub(call: Call, args: Namespace) -> dict[str, str]:
    """The hub in use, unless a team or an organisation is named."""
    return {} if args.team or args.org else {"hub": _named_hub(call)}


def _named_hub(call: Call) -> str:
    return call.hub.id if call.client is not None else call.hub.name


def _of_place(operation: Callable[..., Any], **changed: Any) -> Flags:
    """The options of an operation on the members of a hub, a team or an organisation."""
    return Flags(operation, omit=("hub",), given=_hub, team=_TEAM, org=_ORG, **changed)


# member


@COMMANDS.shows("member list", "holdfast member list", _of_place(People.members))
def _members(call: Call, args: Namespace, found: list[Member]) -> None:
    """List the members of the hub, a team or an organisation.

    In a pipe, a line per member: name, role, since when, added by."""
    rows = [(one.actor, one.role, call.out.time(one.since), one.added_by) for one in found]
    data = [_plain(member) for member in found]
    call.out.rows(("name", "role", "since", "added by"), rows, data=data)


_WHO = flag(about="who")
_SET_MEMBER = _of_place(People.set_member, actor=_WHO, role=_ROLE)


@COMMANDS.add("member set", "holdfast member set ada --role admin", _SET_MEMBER)
def _member_set(call: Call, args: Namespace) -> None:
    """Add a member, or change their role.

    viewer reads; contributor also writes; admin also manages members; owner also renames
    and deletes the hub. Roles apply to access through the server, by API key."""
    member = _SET_MEMBER.run(call, args, role=args.role or "contributor")
    _show(call, "set", member, _place(call, args))


@COMMANDS.shows(
    "member remove", "holdfast member remove ada", _of_place(People.remove_member, actor=_WHO)
)
def _show_removed(call: Call, args: Namespace, removed: str) -> None:
    """Remove a member."""
    call.out.done(
        "removed",
        {"actor": args.actor},
        f"{args.actor} is no member of {_place(call, args)} any more.",
        args.actor,
    )


def _place(call: Call, args: Namespace) -> str:
    """The hub, team or organisation that a command was about."""
    if args.team:
        return f"team {args.team}"
    return f"organisation {args.org}" if args.org else f"hub {call.hub.name}"


def _show(call: Call, word: str, member: Member, place: str = "") -> None:
    of = f" of {place}" if place else ""
    said = f"{member.actor} is {member.role}{of} now."
    call.out.done(word, _plain(member), said, member.actor, member.role)


def _plain(member: Member) -> dict[str, Any]:
    return {**member._asdict(), "since": to_text(member.since)}


# invite


@COMMANDS.shows(
    "invite create",
    "holdfast invite create --role viewer --days 3",
    _of_place(People.invite, role=_ROLE, days=flag(about="how long it is good (7)")),
)
def _show_invite(call: Call, args: Namespace, handed: HandedInvite) -> None:
    """Create a one-time token that grants a role."""
    if call.out.json:
        value = {"id": handed.what.id, "role": handed.what.role, "token": handed.secret}
        call.out.value({**value, "expires_at": to_text(handed.what.expires_at)})
        return
    call.out.line(handed.secret)
    call.out.note(
        f"This is shown once, and good once, until {call.out.time(handed.what.expires_at)}."
    )


@COMMANDS.shows(
    "invite accept",
    "holdfast invite accept TOKEN --actor ada",
    Flags(
        People.accept_invite,
        token=flag(about="what the invitation printed"),
        actor=flag(metavar="WHO", about="who takes the place (you)"),
    ),
)
def _show_joined(call: Call, args: Namespace, member: Member) -> None:
    """Accept an invitation."""
    _show(call, "joined", member)


# org, team


_NAME = flag(metavar="NAME", about="its name")
_CREATE_TEAM = Flags(
    People.create_team, name=_NAME, org=flag("--org", metavar="ORG", about="its organisation")
)


def _show_group(word: str) -> Callable[[Call, Namespace, Any], None]:
    """Makes a function that prints what was done with a team or an organisation."""

    def show(call: Call, args: Namespace, group: Org | Team) -> None:
        kind = "Team" if isinstance(group, Team) else "Organisation"
        call.out.done(
            word,
            {"id": group.id, "name": group.name},
            f"{kind} {group.name} {word}.",
            group.name,
            group.id,
        )

    return show


COMMANDS.shows(
    "org create",
    "holdfast org create Acme",
    Flags(People.create_org, name=_NAME),
    text="Make an organisation.",
)(_show_group("created"))


@COMMANDS.add("org list", "holdfast org list", server="works")
def _org_list(call: Call, args: Namespace) -> None:
    """List the organisations."""
    rows = [(one.name, one.id) for one in call.memory.orgs()]
    call.out.rows(("name", "id"), rows)


COMMANDS.shows(
    "org rename",
    "holdfast org rename Acme Ajax",
    Flags(People.rename_org, org=_NAME),
    text="Rename an organisation.",
)(_show_group("renamed"))
COMMANDS.shows(
    "org remove",
    "holdfast org remove Ajax --yes",
    Flags(People.remove_org, org=_NAME),
    asks="Remove the organisation {org}? Hubs stay, for their members.",
    text="""Remove an organisation that has no teams any more.

    Hubs that were shared with it stay, for their members.""",
)(_show_group("removed"))


@COMMANDS.add("team create", "holdfast team create Tools --org Acme", _CREATE_TEAM)
def _team_create(call: Call, args: Namespace) -> None:
    """Create a team in an organisation."""
    if not args.org:
        raise InvalidInput("A team belongs to an organisation.", hint="Name it with --org.")
    _show_group("created")(call, args, _CREATE_TEAM.run(call, args))


@COMMANDS.add("team list", "holdfast team list", server="works")
def _team_list(call: Call, args: Namespace) -> None:
    """List the teams."""
    names = {org.id: org.name for org in call.memory.orgs()}
    # A member of a team who is not in its organisation sees only the organisation's id.
    rows = [(one.name, names.get(one.org_id, one.org_id), one.id) for one in call.memory.teams()]
    call.out.rows(("name", "org", "id"), rows, org="organisation")


COMMANDS.shows(
    "team rename",
    "holdfast team rename Tools Makers",
    Flags(People.rename_team, team=_NAME),
    text="Rename a team.",
)(_show_group("renamed"))
COMMANDS.shows(
    "team remove",
    "holdfast team remove Makers --yes",
    Flags(People.remove_team, team=_NAME),
    asks="Remove the team {team}? Its hubs stay, for their members.",
    text="""Remove a team; its hubs stay.

    Its hubs then belong to no team: what had the boundary team or org is for the members
    of the hub, until it is given to another team.""",
)(_show_group("removed"))

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


@COMMANDS.add("share", "holdfast share --team Tools --delete own", _SHARE)
def _share(call: Call, args: Namespace) -> None:
    """Give the hub to a team, share it with an organisation, or set what may be deleted.

    Members of the team can then read memories with the boundary team or org; those of the
    organisation, memories with the boundary org."""
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
    """The team or organisation that it is shared with: its name, or its id if the caller may not
    see the name."""
    if team:
        names = {one.id: one.name for one in call.memory.teams()}
        return f"Hub {hub} belongs to the team {names.get(team, team)}."
    if org:
        names = {one.id: one.name for one in call.memory.orgs()}
        return f"Hub {hub} is shared with the organisation {names.get(org, org)}."
    return f"Hub {hub} is shared with no team and no organisation."
