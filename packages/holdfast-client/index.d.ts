// Made from the description of the REST API by `make reference`. Do not edit it.
// The file `index.js` beside it sends the requests.

export interface ClientOptions {
  /** Where the server is; `http://127.0.0.1:4653` where none is named. */
  url?: string;
  /** A key of the server, as `holdfast key create` printed it. */
  key?: string;
  /** The hub that is meant, by name or id. */
  hub?: string;
  /** Milliseconds after which a request ends; 30000. */
  timeoutMs?: number;
  /** Another `fetch`, for tests. */
  fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  /** The hub of this call alone. */
  hub?: string;
  /** A name for this write: sent twice, it is done once. */
  idempotencyKey?: string;
  /** The version that is changed, as `ETag` named it; another one is refused. */
  ifMatch?: string;
  signal?: AbortSignal;
}

/** What the server refused, and why. `status` is 0 where it could not be reached. */
export class HoldfastError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  readonly details: unknown;
}

/** A decision: an option by its words or its number. */
export interface Answer {
  /** the question: its number, its id or its key */
  reference: string;
  /** one of the options, by its words or its number */
  option: string | number;
  /** why */
  note?: string;
  /** where it came in: cli, import, hook, web, api, sdk, mcp or extraction */
  source?: string;
}

/** The items to approve. `text` changes one item; with `keep_both`, nothing is replaced. */
export interface Approval {
  /** the memory: its number (12), its id (mem_…) or its key */
  references?: string[];
  /** a new text for the approved item */
  text?: string | null;
  /** approves without replacing anything */
  keep_both?: boolean;
  /** all of them */
  every?: boolean;
  /** episodic, semantic, procedural, rationale */
  kind?: string | null;
  /** where it came in */
  source?: string | null;
  /** why; kept in the history */
  reason?: string;
}

/** An archived conversation; problems are in the notes. */
export interface ArchivedOut {
  /** the memory */
  memory: MemoryOut | null;
  /** sentences on what was left out or went wrong */
  notes: string[];
  [field: string]: unknown;
}

/** Excludes sessions (a name, or a pattern with `*`) and folders with their subfolders from the log from now on; `remove` ends the exclusion. Turns already logged stay: see `forget_turns`. */
export interface Aside {
  /** sessions that are not logged, by name or with `*` */
  sessions?: string[];
  /** folders that are not logged, with everything below them */
  folders?: string[];
  /** removes these from the list */
  remove?: boolean;
}

/** Several memories, by id, number or key. */
export interface Batch {
  /** the memories, by id, number or key */
  ids: string[];
  /** why */
  reason?: string;
}

/** One UTC day: how often each outcome came, why, and the newest of them. */
export interface CapturedDayOut {
  /** the day, in UTC */
  day: string;
  /** how many had each outcome */
  outcomes: Record<string, number>;
  /** how many were left out for each reason */
  reasons: Record<string, number>;
  /** the newest ones */
  last: LastOut[];
  [field: string]: unknown;
}

/** A change set: what was done at once, and can be undone at once. */
export interface ChangeOut {
  /** its id, which never changes */
  id: string;
  /** the hub that it is in */
  hub_id: string;
  /** when */
  at: string;
  /** who made the change */
  actor: string;
  /** what was done: remember, update, forget, undo and so on */
  action: string;
  /** why */
  reason: string;
  /** the change set that this one took back */
  undoes: string | null;
  /** the change set that took this one back */
  undone_by: string | null;
  [field: string]: unknown;
}

/** Change sets, by id. */
export interface ChangesChanges {
  /** ids of change sets */
  changes: string[];
}

/** The items to decide: those named, or all of them, of a kind, from a source. */
export interface Chosen {
  /** the memory: its number (12), its id (mem_…) or its key */
  references?: string[];
  /** all of them */
  every?: boolean;
  /** episodic, semantic, procedural, rationale */
  kind?: string | null;
  /** where it came in */
  source?: string | null;
  /** why; kept in the history */
  reason?: string;
}

/** What a consolidation did; `change` is what undo takes back, `skipped` why nothing was done. */
export interface ConsolidatedOut {
  /** the plan, as returned by `POST /v1/consolidation/plan`; without it, a new one is made */
  plan: PlanOut;
  /** what was done */
  done: DoneOut[];
  /** what was not done, and why */
  refused: RefusedOut[];
  /** the id of the change set, which `POST /v1/undo` takes back */
  change: string | null;
  /** why nothing was done */
  skipped: string;
  /** how MEMORY.md changes */
  diff: string[];
  /** sentences on what was left out or went wrong */
  notes: string[];
  [field: string]: unknown;
}

/** A conversation to archive: the given messages, or else the session's turns in the log. */
export interface Conversation {
  /** the conversation it is from */
  session: string;
  /** the conversation: objects with `role` and `content` */
  messages?: unknown[] | null;
  /** the name of the conversation, used for its file and memory */
  name?: string | null;
  /** when it was */
  at?: string | null;
}

export interface CountOut {
  /** how many */
  count: number;
  [field: string]: unknown;
}

export interface DecisionOut {
  /** the memory */
  memory: MemoryOut;
  /** the question for a person */
  question: string;
  /** 2 to 4 answers to choose from */
  options: string[];
  /** what the person needs to know to decide */
  context: string;
  /** open, decided or withdrawn */
  status: string;
  /** one of the options, by its words or its number */
  option: string;
  /** a sentence on what was left out, or why */
  note: string;
  /** the id of the memory that says what was decided */
  answer: string;
  [field: string]: unknown;
}

export interface Deleted {
  /** the ids of what was removed permanently */
  deleted: string;
  [field: string]: unknown;
}

export interface DiffOut {
  /** the name of the field */
  field: string;
  /** the old value */
  old: unknown;
  /** the new value */
  new: unknown;
  /** the differences as lines of a unified diff */
  lines: string[];
  [field: string]: unknown;
}

/** An applied step, and the memory that it added or changed. */
export interface DoneOut {
  /** one step of the plan */
  step: StepOut;
  /** the memory */
  memory: MemoryOut;
  [field: string]: unknown;
}

/** A version of a memory: what it was then, what changed, and by which change set. */
export interface EntryOut {
  /** its version; every change makes a new one */
  version: number;
  /** when */
  at: string;
  /** the change set that it is a part of */
  change: ChangeOut;
  /** the names of the fields that changed */
  fields: string[];
  /** the old and the new value of each field */
  changed: Record<string, unknown>;
  /** the memory */
  memory: MemoryOut;
  [field: string]: unknown;
}

/** Prepares for a compaction of the agent's context. Returns the prompt that asks the agent to save what it must keep, and captures by rules what users said that was not processed yet: from the log, or from the given conversation (a transcript, or messages with role and content). Calling it again captures nothing twice. The log is only read in a hub that is not shared, because it does not say who said what; `note` then says so. */
export interface FlushedConversation {
  /** the conversation: objects with `role` and `content` */
  messages?: unknown[] | string | null;
  /** the conversation it is from */
  session?: string | null;
}

/** The prompt for the agent, how many turns were looked at, and what was captured. `left_out` counts older turns that were too many; `note` says what was not looked at, and what to do. */
export interface FlushedOut {
  /** a prompt for the agent before its context is compacted */
  prompt: string;
  /** how many turns were read */
  turns: number;
  /** what was captured by rules */
  noted: NotedOut[];
  /** how many older turns exceeded the limit and were not read */
  left_out: number;
  /** a sentence on what was left out, or why */
  note: string;
  [field: string]: unknown;
}

/** Deletes the turns that meet all conditions: said since or until a time, in a session, about a word or a few, or with these ids. Turns are deleted permanently, from the index and the vectors too. Memories made from them (and with `about` alone, those that contain the words) are forgotten in a change set that `undo` reverts, or purged. A `dry_run` only reports what would go. */
export interface Forget {
  /** happened or said not before */
  since?: string | null;
  /** not after; a day counts to its end */
  until?: string | null;
  /** the conversation it is from */
  session?: string | null;
  /** the words to look for */
  about?: string | null;
  /** find turns of the conversation log too */
  turns?: string[];
  /** removes the memories permanently, instead of in a change set that can be undone */
  purge?: boolean;
  /** whether it only reports what it would change */
  dry_run?: boolean;
  /** why; kept in the history */
  reason?: string;
}

/** The result of forgetting turns: their number, the newest of them, and the memories that were made from them. */
export interface ForgottenOut {
  /** how many turns match */
  total: number;
  /** the turns */
  turns: TurnOut[];
  /** the memories */
  memories: MemoryOut[];
  /** whether it only reports what it would change */
  dry_run: boolean;
  [field: string]: unknown;
}

export interface HeardOut {
  /** the text without them */
  text: string;
  /** the memories that came back in the text */
  memories: MemoryOut[];
  [field: string]: unknown;
}

export interface HitOut {
  /** the memory */
  memory: MemoryOut;
  /** the part of the text that matched */
  passage: PassageOut;
  /** orders the hits of one answer; scores of two questions cannot be compared */
  score: number;
  /** how likely it is that this answers the question, from 0 to 1 */
  probability: number;
  /** the reasons in words */
  why: string[];
  /** the parts of the score by name */
  parts: Record<string, number>;
  /** the turn of the conversation log */
  turn: TurnOut | null;
  /** the turns before and after it, if requested */
  around: TurnOut[];
}

/** The changes of a hub; an empty team or organisation means none. */
export interface HubChanges {
  /** its name */
  name?: string | null;
  /** the team that the hub is given to; empty text takes it back */
  team?: string | null;
  /** the organisation that the hub is shared with; empty text takes it back */
  org?: string | null;
  /** what contributors may delete: any, own or none */
  delete_policy?: string | null;
}

/** A hub and the caller's role in it. A caller without a role only reads what the hub shares. */
export interface HubOut {
  /** its id, which never changes */
  id: string;
  /** its name */
  name: string;
  /** the name of its owner */
  owner: string;
  /** when it was made */
  created_at: string;
  /** the caller's role: viewer, contributor, admin or owner */
  role: string | null;
  /** what contributors may delete: any, own or none */
  delete_policy: string;
  [field: string]: unknown;
}

/** With the token of the invitation, which is shown once. */
export interface InviteHanded {
  /** its id, which never changes */
  id: string;
  /** viewer, contributor, admin or owner */
  role: string;
  /** who made the invitation */
  invited_by: string;
  /** when it was made */
  created_at: string;
  /** when it ends; null for never */
  expires_at: string;
  /** when it was used last */
  used_at: string | null;
  /** who accepted it */
  used_by: string | null;
  /** what the invited person sends to `POST /v1/invites/accept` */
  token: string;
  [field: string]: unknown;
}

export interface InviteOut {
  /** its id, which never changes */
  id: string;
  /** viewer, contributor, admin or owner */
  role: string;
  /** who made the invitation */
  invited_by: string;
  /** when it was made */
  created_at: string;
  /** when it ends; null for never */
  expires_at: string;
  /** when it was used last */
  used_at: string | null;
  /** who accepted it */
  used_by: string | null;
  [field: string]: unknown;
}

/** A memory that waits in the inbox: why, what approving it would replace, and when it goes by itself. */
export interface ItemOut {
  /** the memory */
  memory: MemoryOut;
  /** quarantined, conflict or low_trust */
  kind: string;
  /** why it waits */
  why: string;
  /** the memory that approving it would replace */
  about: MemoryOut | null;
  /** when it ends; null for never */
  expires_at: string;
  [field: string]: unknown;
}

/** A background job: waiting, running, done or failed. */
export interface JobOut {
  /** its id, which never changes */
  id: string;
  /** what kind of work it is */
  work: string;
  /** the memory */
  memory: string | null;
  /** waiting, running, done or failed */
  state: string;
  /** how often it was tried */
  attempts: number;
  /** how much of it is done */
  done: number;
  /** how many there are in all */
  total: number | null;
  /** why */
  reason: string;
  /** when it was made */
  created_at: string;
  /** when it ended */
  ended_at: string | null;
  [field: string]: unknown;
}

export interface JournalDayOut {
  /** the day, in UTC */
  date: string;
  /** the text */
  text: string;
  /** its entries */
  entries: JournalEntryOut[];
  [field: string]: unknown;
}

export interface JournalEntryOut {
  /** the time of the day */
  time: string | null;
  /** the text */
  text: string;
  /** the memory */
  memory: MemoryOut | null;
  [field: string]: unknown;
}

export interface JournalOut {
  /** the answer */
  data: JournalDayOut[];
  /** sentences on what was left out or went wrong */
  notes: string[];
}

/** With the secret, which is shown once. */
export interface KeyHanded {
  /** its id, which never changes */
  id: string;
  /** the owner of the key */
  actor: string;
  /** its name */
  name: string;
  /** the hubs that the key reaches, by name or id; all of its owner's where it is empty */
  hubs: string[];
  /** whether the key may only read */
  read_only: boolean;
  /** whether the key may not delete */
  no_delete: boolean;
  /** when it was made */
  created_at: string;
  /** when it ends; null for never */
  expires_at: string | null;
  /** when it was revoked */
  revoked_at: string | null;
  /** when it was used last */
  used_at: string | null;
  /** the key itself, which is shown once */
  secret: string;
  [field: string]: unknown;
}

export interface KeyOut {
  /** its id, which never changes */
  id: string;
  /** the owner of the key */
  actor: string;
  /** its name */
  name: string;
  /** the hubs that the key reaches, by name or id; all of its owner's where it is empty */
  hubs: string[];
  /** whether the key may only read */
  read_only: boolean;
  /** whether the key may not delete */
  no_delete: boolean;
  /** when it was made */
  created_at: string;
  /** when it ends; null for never */
  expires_at: string | null;
  /** when it was revoked */
  revoked_at: string | null;
  /** when it was used last */
  used_at: string | null;
  [field: string]: unknown;
}

export interface LastOut {
  /** what happened to it */
  outcome: string;
  /** why */
  reason: string;
  /** the text */
  text: string;
  /** when */
  at: string;
  [field: string]: unknown;
}

export interface LeftOutOut {
  /** the memory */
  memory: MemoryOut;
  /** why */
  reason: string;
  /** orders the hits of one answer; scores of two questions cannot be compared */
  score: number;
}

/** The memories that moved, or would move; `change` is the change set for undo. */
export interface LifecycleOut {
  /** whether it only reports what it would change */
  dry_run: boolean;
  /** the memories that cool down or are archived */
  moves: MoveOut[];
  /** the change set; null where nothing was due */
  change: string | null;
  [field: string]: unknown;
}

/** The scope of a run: every memory that is due, or those of one category. */
export interface LifecycleRequest {
  /** only say what would happen */
  dry_run?: boolean;
  /** for example preference or fact */
  category?: string | null;
}

export interface ManyDeleted {
  /** the ids of what was removed permanently */
  deleted: string[];
  /** the receipt of each purged memory */
  receipts: ReceiptOut[];
  [field: string]: unknown;
}

export interface MemberOut {
  /** the person */
  actor: string;
  /** viewer, contributor, admin or owner */
  role: string;
  /** since when */
  since: string;
  /** who gave them the role */
  added_by: string;
  [field: string]: unknown;
}

/** Fields to set; the others stay. `owner_id` may be sent back as it was received. */
export interface MemoriesChanges {
  /** why; kept in the history */
  reason?: string;
  /** instead of one taken from the content */
  title?: string | null;
  /** instead of one taken from the content */
  summary?: string | null;
  /** text, markdown, code, chat, transcript, file, structured, link */
  content_type?: string | null;
  /** a name of its own; the same key updates */
  key?: string | null;
  /** for example preference or fact */
  category?: string | null;
  /** a tag */
  tags?: string[] | null;
  /** episodic, semantic, procedural, rationale */
  kind?: string | null;
  /** volatile, evolving, stable */
  stability?: string | null;
  /** private, hub, team, org */
  boundary?: string | null;
  /** long_term, journal, library */
  layer?: string | null;
  /** the conversation it is from */
  session?: string | null;
  /** who said it */
  speaker?: string | null;
  /** when it happened, or was said */
  occurred_at?: string | null;
  /** when it was over */
  occurred_until?: string | null;
  /** when it begins to hold */
  valid_from?: string | null;
  /** when it ceases to hold */
  valid_until?: string | null;
  /** when it is archived */
  expires_at?: string | null;
  /** an object with whatever you need */
  metadata?: Record<string, unknown> | null;
  /** the text */
  content?: string | null;
  /** keep it from ageing */
  pinned?: boolean | null;
  /** who said it: user, agent, tool, import */
  trust?: string | null;
  /** the id of its owner */
  owner_id?: string | null;
}

/** One memory, with all its fields. `owner_id` is the same as `owner`. `shown_count` counts how often recall returned it, `access_count` how often it was used. */
export interface MemoryOut {
  /** its id, which never changes */
  id: string;
  /** the hub that it is in */
  hub_id: string;
  /** its number in the hub; 0 for a turn of the conversation log */
  number: number;
  /** the text */
  content: string;
  /** a hash of the text */
  content_hash: string;
  /** one line for lists */
  title: string;
  /** a shorter form of a long text */
  summary: string;
  /** the name of its owner */
  owner: string;
  /** the id of its owner */
  owner_id: string;
  /** text, markdown, code, chat, transcript, file, structured or link */
  content_type: string;
  /** its category, for example preference or fact */
  category: string;
  /** its labels */
  tags: string[];
  /** episodic, semantic, procedural or rationale */
  kind: string;
  /** how it ages: volatile, evolving or stable */
  stability: string;
  /** who may see it: private, hub, team or org */
  boundary: string;
  /** processing, active, cooling or archived */
  state: string;
  /** long_term, journal or library; turn for a turn of the conversation log */
  layer: string;
  /** whether it never ages */
  pinned: boolean;
  /** where it came in: cli, import, hook, web, api, sdk, mcp or extraction */
  source: string;
  /** its version; every change makes a new one */
  version: number;
  /** how often it was used, as noted by `access` */
  access_count: number;
  /** how often recall returned it */
  shown_count: number;
  /** when it was made */
  created_at: string;
  /** when it was changed last */
  updated_at: string;
  [field: string]: unknown;
}

export interface MemoryPage {
  /** the answer */
  data: MemoryOut[];
  /** fetches the next page; null on the last one */
  next_cursor: string | null;
}

/** The usage of one pass with one model on one day (UTC). */
export interface ModelUsageOut {
  /** the day, in UTC */
  day: string;
  /** what kind of work it is */
  work: string;
  /** the language model */
  model: string;
  /** how many requests were made */
  requests: number;
  /** how many requests failed */
  failed: number;
  /** tokens that were sent */
  tokens_in: number;
  /** tokens that were received */
  tokens_out: number;
  [field: string]: unknown;
}

/** Several memories, and the hub to move them to. */
export interface Move {
  /** the memories, by id, number or key */
  ids: string[];
  /** why */
  reason?: string;
  /** the hub, by name or id */
  hub: string;
}

/** One memory, the state that it moved to, and why. */
export interface MoveOut {
  /** the memory */
  memory: MemoryOut;
  /** its new state */
  to: string;
  /** why */
  reason: string;
  [field: string]: unknown;
}

/** Adds an entry to the journal of its UTC day, in the file and as a memory. With `once`, an entry that the day already has is not added again. */
export interface NewEntry {
  /** the text */
  text: string;
  /** when it was */
  at?: string | null;
  /** who said it: user, agent, tool, import */
  trust?: string;
  /** where it came in: cli, import, hook, web, api, sdk, mcp or extraction */
  source?: string;
  /** the agent that it comes from */
  source_agent?: string | null;
  /** adds nothing if the day contains it already */
  once?: boolean;
}

/** A new hub. */
export interface NewHub {
  /** its name */
  name: string;
}

export interface NewInvite {
  /** viewer, contributor, admin or owner */
  role?: string;
  /** for how many days it is valid */
  days?: number;
}

/** A new key; `hubs` are ids or names, and none means all. */
export interface NewKey {
  /** its name */
  name: string;
  /** the hubs that the key reaches, by name or id; all of its owner's where it is empty */
  hubs?: string[];
  /** whether the key may only read */
  read_only?: boolean;
  /** whether the key may not delete */
  no_delete?: boolean;
  /** when it ends; null for never */
  expires_at?: string | null;
}

/** A memory to store. Rules choose the fields that are not given. */
export interface NewMemory {
  /** the text */
  content?: string | null;
  /** instead of one taken from the content */
  title?: string | null;
  /** instead of one taken from the content */
  summary?: string | null;
  /** text, markdown, code, chat, transcript, file, structured, link */
  content_type?: string | null;
  /** a name of its own; the same key updates */
  key?: string | null;
  /** for example preference or fact */
  category?: string | null;
  /** a tag */
  tags?: string[] | null;
  /** episodic, semantic, procedural, rationale */
  kind?: string | null;
  /** volatile, evolving, stable */
  stability?: string | null;
  /** private, hub, team, org */
  boundary?: string | null;
  /** long_term, journal, library */
  layer?: string | null;
  /** the conversation it is from */
  session?: string | null;
  /** who said it */
  speaker?: string | null;
  /** when it happened, or was said */
  occurred_at?: string | null;
  /** when it was over */
  occurred_until?: string | null;
  /** when it begins to hold */
  valid_from?: string | null;
  /** when it ceases to hold */
  valid_until?: string | null;
  /** when it is archived */
  expires_at?: string | null;
  /** an object with whatever you need */
  metadata?: Record<string, unknown> | null;
  /** whether it never ages */
  pinned?: boolean;
  /** who said it: user, agent, tool, import */
  trust?: string;
  /** where it came in: cli, import, hook, web, api, sdk, mcp or extraction */
  source?: string;
  /** the agent that it comes from */
  source_agent?: string | null;
  /** the agent that helped to write it */
  assisted_by_agent?: string | null;
  /** where it comes from */
  source_path?: string | null;
  /** the memory that it replaces */
  supersedes?: string | null;
  /** the memory that it is a part of */
  parent?: string | null;
  /** where in a conversation it was taken from */
  origin?: OriginIn | null;
  /** whether a worker fetches the page behind a link */
  fetch?: boolean;
  /** the id of its owner */
  owner_id?: string | null;
}

export interface NewName {
  /** its name */
  name: string;
}

/** One turn of a conversation: the user's message and the assistant's answer. The mode is current, cron, heartbeat or consolidation. */
export interface NewObservation {
  /** what the user said */
  user: string | null;
  /** what the assistant answered */
  assistant: string | null;
  /** current, cron, heartbeat or consolidation; facts are captured only from the first */
  mode?: string;
  /** the conversation it is from */
  session?: string | null;
  /** where it came in */
  source?: string;
  /** when it was */
  at?: string | null;
  /** who said it */
  speaker?: string | null;
  /** who said it: user, agent, tool, import */
  trust?: string | null;
  /** the folder that the agent works in */
  folder?: string | null;
}

export interface NewOrg {
  /** its name */
  name: string;
}

export interface NewRole {
  /** viewer, contributor, admin or owner */
  role: string;
}

/** A new team; its organisation by id or name. */
export interface NewTeam {
  /** its name */
  name: string;
  /** the organisation, by name or id */
  org: string;
}

/** Adds a message of a user, an assistant or the system to the conversation log, where recall finds it. `speaker` is the speaker's name, if there are several users. `trust` says where the words come from, if not from the role itself: `tool` for the output of a tool or a page, `import` for a pasted document. `folder` is where the agent works; `log_rules` may exclude it. */
export interface NewTurn {
  /** user, assistant or system */
  role: string;
  /** the text */
  content: string;
  /** where it came in */
  source?: string;
  /** the conversation it is from */
  session?: string | null;
  /** when it was */
  at?: string | null;
  /** who said it */
  speaker?: string | null;
  /** who said it: user, agent, tool, import */
  trust?: string | null;
  /** the folder that the agent works in */
  folder?: string | null;
}

/** The result of one proposal of a pass: stored, mentioned, superseded, held, dropped …, and why. */
export interface NotedOut {
  /** what happened to it */
  outcome: string;
  /** why */
  reason: string;
  /** the text */
  text: string;
  [field: string]: unknown;
}

/** The result of observing a turn: the turns that were logged, and whether a pass will look at them; `reason` says why not. */
export interface ObservedOut {
  /** the turns that were logged */
  turns: TurnOut[];
  /** whether facts will be taken from it */
  queued: boolean;
  /** why */
  reason: string;
  /** how many older turns left a full queue */
  dropped: number;
  [field: string]: unknown;
}

/** An organisation, and the caller's role in it. */
export interface OrgOut {
  /** its id, which never changes */
  id: string;
  /** its name */
  name: string;
  /** when it was made */
  created_at: string;
  /** viewer, contributor, admin or owner */
  role: string | null;
  [field: string]: unknown;
}

/** The place in a conversation from which the memory was made. */
export interface OriginIn {
  /** the id of the turn */
  turn: string;
  /** the position of the first character */
  start: number;
  /** the position after the last character */
  end: number;
  /** the hash of the turn's text */
  hash: string;
}

export interface PassageOut {
  /** the text */
  text: string;
  /** the position of the first character */
  start: number;
  /** the position after the last character */
  end: number;
  /** the headings that the passage is under */
  headings: string[];
}

/** Stops logging turns, until a time or until `resume_log`. */
export interface Pause {
  /** not after; a day counts to its end */
  until?: string | null;
}

/** A plan; `sources` are the memories that its steps name. */
export interface PlanOut {
  /** the hub, by name or id */
  hub: string;
  /** when it was made */
  made_at: string;
  /** the model that proposed it, or `rules` */
  by: string;
  /** the steps of the plan */
  steps: StepOut[];
  /** what was not done, and why */
  refused: RefusedOut[];
  /** the memories that it is made from */
  sources: Record<string, unknown>[];
  /** sentences on what was left out or went wrong */
  notes: string[];
  [field: string]: unknown;
}

/** Several memories, and whether other copies of their words are removed too. */
export interface Purge {
  /** the memories, by id, number or key */
  ids: string[];
  /** why */
  reason?: string;
  /** also removes other copies of the same words */
  everywhere?: boolean;
}

/** The result of storing a memory: stored, updated, duplicate, superseded or quarantined; with the change set, what it was before, or why it is held for review. `close_to` is an older memory that the stored one may replace; to replace it, send it with `supersedes`. */
export interface Pushed {
  /** the answer */
  data: MemoryOut;
  /** stored, updated, duplicate, superseded or quarantined */
  result: string;
  /** the id of the change set, which `POST /v1/undo` takes back */
  change?: string | null;
  /** the memory that was replaced, as it was */
  previous?: MemoryOut | null;
  /** an older memory that the new one may replace */
  close_to?: MemoryOut | null;
  /** why */
  reason?: string | null;
}

/** Memories to store, all of them or none; `first_is_parent`: the others are its parts. */
export interface Pushes {
  /** the memories to store, all or none */
  items: NewMemory[];
  /** the others point to the first as their `parent` */
  first_is_parent?: boolean;
}

/** A question. `now` and `zone` are the time of the question and the caller's time zone, for words such as `yesterday`. */
export interface RecallQuestion {
  /** the question */
  query: string;
  /** how many */
  limit?: number | null;
  /** as things stood then */
  as_of?: string | null;
  /** for example preference or fact */
  category?: string | null;
  /** episodic, semantic, procedural, rationale */
  kind?: string | null;
  /** long_term, journal, library */
  layer?: string | null;
  /** a tag */
  tags?: string[] | null;
  /** happened or said not before */
  since?: string | null;
  /** not after; a day counts to its end */
  until?: string | null;
  /** the conversation it is from */
  session?: string | null;
  /** on metadata and fields, such as 'priority >= 3 and team = core' */
  where?: Record<string, unknown> | string | null;
  /** archived memories too */
  include_archived?: boolean;
  /** the moment of the question */
  now?: string | null;
  /** the time zone of the question */
  zone?: string | null;
  /** match words and meaning; without it words only */
  meaning?: boolean;
  /** say why each hit ranked */
  explain?: boolean;
  /** a folder or a name; what belongs to it ranks a little higher */
  project?: string | null;
  /** no character of the query is an operator */
  plain?: boolean;
  /** find turns of the conversation log too */
  turns?: boolean;
  /** how many turns to return before and after a turn that is a hit */
  around?: number;
  /** 1 finds nothing unlikely, 0.5 finds more, 0 always the closest */
  caution?: number | null;
}

/** The hits for a question, best first; `degraded` says why the answer may be weaker than usual. What was found and not shown is counted by reason, and listed if an explanation was requested. */
export interface RecalledOut {
  /** the answer */
  data: HitOut[];
  /** how likely it is that the hub holds an answer, from 0 to 1 */
  confidence: number;
  /** why the answer may be weaker than usual; empty where it is not */
  degraded: string[];
  /** how many were found and not shown, by reason */
  filtered?: Record<string, number>;
  /** what matched and was not shown, and why */
  left_out?: LeftOutOut[];
}

/** The record of a purge, without any of the content. */
export interface ReceiptOut {
  /** the memory that was purged */
  memory_id: string;
  /** its number in the hub; 0 for a turn of the conversation log */
  number: number;
  /** when */
  at: string;
  /** who purged it */
  actor: string;
  /** why */
  reason: string;
  /** how many versions it had */
  revisions: number;
  [field: string]: unknown;
}

/** A step that is not applied, and the reason. */
export interface RefusedOut {
  /** one step of the plan */
  step: StepOut;
  /** why */
  reason: string;
  [field: string]: unknown;
}

/** Memories similar to a memory, and in `hits` the same with the passages and the reasons. */
export interface RelatedOut {
  /** the answer */
  data: MemoryOut[];
  /** what was found, with scores and reasons */
  hits: HitOut[];
  /** why the answer may be weaker than usual; empty where it is not */
  degraded: string[];
}

export interface Removed {
  /** what was removed */
  removed: string;
  [field: string]: unknown;
}

/** A question for a person, with 2 to 4 options. */
export interface ReviewQuestion {
  /** the question for a person */
  question: string;
  /** 2 to 4 answers to choose from */
  options: string[];
  /** what the person needs to know to decide */
  context?: string;
  /** who said it: user, agent, tool, import */
  trust?: string;
  /** where it came in: cli, import, hook, web, api, sdk, mcp or extraction */
  source?: string;
  /** the agent that it comes from */
  source_agent?: string | null;
}

/** The rules for what is not logged of a conversation. */
export interface RulesOut {
  /** whether nothing is logged */
  paused: boolean;
  /** when the pause ends */
  until: string | null;
  /** sessions that are not logged, by name or with `*` */
  sessions: string[];
  /** folders that are not logged, with everything below them */
  folders: string[];
  [field: string]: unknown;
}

/** Removes from a text whatever this hub itself has returned, in context blocks and replies. `text` is the rest, `memories` are those that were found in it. For programs that store an agent's output. */
export interface Said {
  /** the text */
  text: string;
}

/** The size of the conversation log: its turns, about its size in the store, and the size of a year of it. */
export interface SizeOut {
  /** how many turns there are */
  turns: number;
  /** the bytes of the texts */
  text_bytes: number;
  /** about how many bytes it takes in the store */
  store_bytes: number;
  /** when the oldest was made */
  oldest: string | null;
  /** when the newest was made */
  newest: string | null;
  /** about how many bytes a year at the present rate takes */
  year_bytes: number;
  [field: string]: unknown;
}

/** A named speaker in the log: the number of their turns, and the time of the last. */
export interface SpeakerOut {
  /** its name */
  name: string;
  /** how many turns they said */
  turns: number;
  /** when they said something last */
  last: string;
  [field: string]: unknown;
}

/** One step: promote, merge or retire. Memories are named by their numbers. */
export interface StepOut {
  /** promote, merge or retire */
  kind: string;
  /** the memories that it is made from */
  sources: number[];
  /** the text */
  text: string;
  /** its category, for example preference or fact */
  category: string;
  /** the number of the memory that it replaces */
  replaces: number | null;
  /** the number of the memory that replaces it */
  replaced_by: number | null;
  /** why */
  reason: string;
  [field: string]: unknown;
}

/** A team. A caller without a role sees it if it belongs to their organisation. */
export interface TeamOut {
  /** its id, which never changes */
  id: string;
  /** its name */
  name: string;
  /** when it was made */
  created_at: string;
  /** viewer, contributor, admin or owner */
  role: string | null;
  /** the organisation */
  org_id: string;
  [field: string]: unknown;
}

/** A block of text; if an explanation was requested, also what is in it and what is not. */
export interface TextOut {
  /** the text */
  text: string;
  [field: string]: unknown;
}

export interface ThisHub {
  /** the answer */
  data: HubOut;
  /** the time of the server */
  now: string;
}

export interface Token {
  /** what the invited person sends to `POST /v1/invites/accept` */
  token: string;
}

export interface TopicOut {
  /** its name */
  name: string;
  /** how many */
  count: number;
  [field: string]: unknown;
}

export interface TracesOut {
  /** the memories */
  memories: MemoryOut[];
  /** the turns */
  turns: TurnOut[];
  [field: string]: unknown;
}

export interface TurnOut {
  /** its id, which never changes */
  id: string;
  /** the hub that it is in */
  hub_id: string;
  /** user, assistant or system */
  role: string;
  /** the text */
  content: string;
  /** when */
  at: string;
  /** where it was said, for example telegram */
  source: string;
  /** the conversation it is from */
  session: string | null;
  /** who said it */
  speaker: string | null;
  /** who said it: user, agent, tool, import */
  trust: string;
  /** a sentence on what was left out, or why */
  note: string;
  [field: string]: unknown;
}

/** Undoes the last change set, or the one named. Undoing an undo reapplies the changes. */
export interface Undo {
  /** the change set; without it, the last one */
  change?: string | null;
  /** also over later changes */
  force?: boolean;
}

export interface UndoneOut {
  /** the id of the change set, which `POST /v1/undo` takes back */
  change: ChangeOut;
  /** the change set that was taken back */
  undone: ChangeOut;
  /** the memories */
  memories: MemoryOut[];
  /** how many turns of an import it removed from the log */
  turns: number;
  /** how many turns of an import cannot be brought back */
  missing: number;
  [field: string]: unknown;
}

/** Counts of what is in a hub, as far as the caller may see it. */
export interface UsageOut {
  /** the hub's name */
  hub: string;
  /** how many memories there are */
  memories: number;
  /** how many are shown */
  visible: number;
  /** how many are forgotten and can be brought back */
  forgotten: number;
  /** how many memories in each state */
  by_state: Record<string, number>;
  /** how many memories in each category */
  by_category: Record<string, number>;
  /** the bytes of the texts */
  content_bytes: number;
  /** when the oldest was made */
  oldest: string | null;
  /** when the newest was made */
  newest: string | null;
  /** when the lifecycle ran last */
  lifecycle_at: string | null;
  [field: string]: unknown;
}

/** A plan, as returned by `POST /consolidation/plan` or as text; without it, a new one is made. */
export interface Wanted {
  /** the plan, as returned by `POST /v1/consolidation/plan`; without it, a new one is made */
  plan?: Record<string, unknown> | string | null;
  /** whether it only reports what it would change */
  dry_run?: boolean;
}

/** Withdraws a question that has no answer. */
export interface Withdrawal {
  /** the memory: its number (12), its id (mem_…) or its key */
  reference: string;
  /** why */
  note?: string;
}

export interface Withdrawn {
  /** the id of what was withdrawn */
  withdrawn: string;
  [field: string]: unknown;
}

/** A client of one server. Every method sends one request. */
export class Holdfast {
  constructor(options?: ClientOptions);
  /** The same client with other options: another hub, another key. */
  with(options: ClientOptions): Holdfast;
  /** Accepts an invitation to a hub, a team or an organisation by its token. */
  acceptInvite(body: Token, options?: CallOptions): Promise<MemberOut>;
  /** Archives a conversation as a searchable memory and as a file of the hub. */
  archiveConversation(body: Conversation, options?: CallOptions): Promise<ArchivedOut>;
  /** Returns what automatic memory captured and what it left out, with reasons, for the last days that have anything; newest first. */
  captured(query?: { days?: number }, options?: CallOptions): Promise<CapturedDayOut[]>;
  /** Returns the context block for an agent's prompt; with `explain`, also what is in it, what is not, and why. */
  context(query?: { query?: string | null; budget?: number | null; style?: string; unit?: string; count_tokens?: string | null; explain?: boolean }, options?: CallOptions): Promise<TextOut>;
  /** Streams the changes of a hub from now on, or since the last event received. `change` has a change set and the memories it touched; `text` has memories that got the text of a file or page; `purge` lists for members what was removed permanently; `missed` asks the client to fetch everything again; `end` closes the stream. */
  events(options?: CallOptions): Promise<Response>;
  /** Exports the part of the hub that the caller may see, as lines of JSON; for its members. */
  export(options?: CallOptions): Promise<Response>;
  /** Prepares for a compaction of the agent's context. Returns the prompt that asks the agent to save what it must keep, and captures by rules what users said that was not processed yet: from the log, or from the given conversation (a transcript, or messages with role and content). Calling it again captures nothing twice. The log is only read in a hub that is not shared, because it does not say who said what; `note` then says so. */
  flush(body: FlushedConversation, options?: CallOptions): Promise<FlushedOut>;
  /** Removes from a text whatever this hub itself has returned, in context blocks and replies. `text` is the rest, `memories` are those that were found in it. For programs that store an agent's output. */
  heard(body: Said, options?: CallOptions): Promise<HeardOut>;
  /** Cools and archives memories that are due by the rules, as one change set. With `dry_run`, says what would move and why, and writes nothing. */
  lifecycle(body: LifecycleRequest, options?: CallOptions): Promise<LifecycleOut>;
  /** Lists background jobs on memories that the caller sees: waiting, running, done or failed, oldest first. */
  listJobs(query?: { limit?: number }, options?: CallOptions): Promise<JobOut[]>;
  /** Returns what language models cost this hub: requests and tokens by day, pass and model, newest day first. What the hub holds is counted by `statistics`, which is `/usage` in REST. */
  modelUsage(query?: { days?: number }, options?: CallOptions): Promise<ModelUsageOut[]>;
  /** Takes in a turn of a conversation. Both sides are logged, where recall finds them. With `shadowJournal.enabled`, facts worth keeping are written to the day's journal in the background, after the reply. Turns with the mode cron, heartbeat or consolidation are only logged. `turn` is the turn's name within its session, for idempotency: a side that was logged under it is not logged again. `noted` is the part of `user` to take facts from, if not all of it. `speaker` is the user's name, if there are several. `trust` says where the user's words come from, as in `log_turn`. `folder` is where the agent works. Text in `<private>…</private>` and whatever `log_rules` exclude is not logged, and `reason` says so. `import_run` is the change set of a running import; facts taken from the turn become part of it. */
  observeTurn(body: NewObservation, options?: CallOptions): Promise<ObservedOut>;
  /** Finds memories and turns that answer a question, best first, each with its reasons. */
  recall(body: RecallQuestion, options?: CallOptions): Promise<RecalledOut>;
  /** Lists the receipts of what was purged. */
  receipts(options?: CallOptions): Promise<ReceiptOut[]>;
  /** Returns the hub that `X-Hub-ID` names, or else the server's default hub, and the server's time. */
  thisHub(options?: CallOptions): Promise<ThisHub>;
  /** Lists the topics of a hub: its categories, with the number of memories in each. */
  topics(options?: CallOptions): Promise<TopicOut[]>;
  /** Undoes the last change set, or the one named. Undoing an undo reapplies the changes. */
  undo(body: Undo, options?: CallOptions): Promise<UndoneOut>;
  /** Counts what is in the hub: `statistics` of the library. The cost of language models is at `/model-usage`. */
  usage(options?: CallOptions): Promise<UsageOut>;
  readonly changes: {
    /** Lists change sets, newest first. */
    list(query?: { limit?: number; before?: string | null }, options?: CallOptions): Promise<ChangeOut[]>;
    /** Lists the memories that each change set touched, as they are now. */
    touched(body: ChangesChanges, options?: CallOptions): Promise<Record<string, MemoryOut[]>>;
  };
  readonly consolidation: {
    /** Moves lasting facts from the journals to long-term memory, as one change set. */
    consolidate(body: Wanted, options?: CallOptions): Promise<ConsolidatedOut>;
    /** Plans a consolidation: what it would promote, merge and retire, and what it refuses. Writes nothing. */
    plan(options?: CallOptions): Promise<PlanOut>;
  };
  readonly decisions: {
    /** Records a person's answer: an option by its text or number. The answer becomes a memory. */
    decide(body: Answer, options?: CallOptions): Promise<DecisionOut>;
    /** Lists open questions, oldest first; with `every`, also those decided or withdrawn. */
    list(query?: { every?: boolean }, options?: CallOptions): Promise<DecisionOut[]>;
    /** Asks a person to decide between 2 to 4 options. At most 3 questions may be open; until it is answered, a question is neither recalled nor injected. */
    request(body: ReviewQuestion, options?: CallOptions): Promise<DecisionOut>;
    /** Withdraws a question that has no answer. */
    withdraw(body: Withdrawal, options?: CallOptions): Promise<DecisionOut>;
  };
  readonly hubs: {
    /** Renames a hub, gives it to a team, shares it with an organisation, or sets what contributors may delete. Only members of a team or an organisation can give it a hub. */
    change(hubId: string | number, body: HubChanges, options?: CallOptions): Promise<HubOut>;
    /** Creates a hub, owned by the caller. */
    create(body: NewHub, options?: CallOptions): Promise<HubOut>;
    /** Creates an invitation: a one-time token for a role. Only this answer contains the token. */
    createInvite(hubId: string | number, body: NewInvite, options?: CallOptions): Promise<InviteHanded>;
    /** Deletes a hub and everything in it, permanently. */
    delete(hubId: string | number, options?: CallOptions): Promise<Deleted>;
    /** Returns one hub by id or name; for its members also the team and the organisation that it is shared with. */
    get(hubId: string | number, options?: CallOptions): Promise<HubOut>;
    /** Lists the hubs that the caller can reach, by name. */
    list(options?: CallOptions): Promise<HubOut[]>;
    /** Lists the invitations, also used ones, without their tokens. */
    listInvites(hubId: string | number, options?: CallOptions): Promise<InviteOut[]>;
    /** Lists the members. Only members may ask. */
    listMembers(hubId: string | number, options?: CallOptions): Promise<MemberOut[]>;
    /** Removes a member; anyone may leave. */
    removeMember(hubId: string | number, actor: string | number, options?: CallOptions): Promise<Removed>;
    /** Adds a member or changes their role. Only an owner may add or change an owner. */
    setMember(hubId: string | number, actor: string | number, body: NewRole, options?: CallOptions): Promise<MemberOut>;
    /** Withdraws an invitation. */
    withdrawInvite(hubId: string | number, inviteId: string | number, options?: CallOptions): Promise<Withdrawn>;
  };
  readonly journal: {
    /** Adds an entry to the journal of its UTC day, in the file and as a memory. With `once`, an entry that the day already has is not added again. */
    add(body: NewEntry, options?: CallOptions): Promise<MemoryOut>;
    /** Returns the journals of today, yesterday, a date or a range such as 2026-05-01..2026-05-27; newest day first. */
    read(query?: { when?: string }, options?: CallOptions): Promise<JournalOut>;
  };
  readonly keys: {
    /** Creates a key for the caller. Only this answer contains its secret. */
    create(body: NewKey, options?: CallOptions): Promise<KeyHanded>;
    /** Lists the caller's keys, also revoked ones, without their secrets. A limited key lists only itself: the others may be for hubs that it cannot reach. */
    list(options?: CallOptions): Promise<KeyOut[]>;
    /** Revokes a key permanently; a limited key can revoke only itself. */
    revoke(keyId: string | number, options?: CallOptions): Promise<KeyOut>;
  };
  readonly log: {
    /** Deletes the turns that meet all conditions: said since or until a time, in a session, about a word or a few, or with these ids. Turns are deleted permanently, from the index and the vectors too. Memories made from them (and with `about` alone, those that contain the words) are forgotten in a change set that `undo` reverts, or purged. A `dry_run` only reports what would go. */
    forgetTurns(body: Forget, options?: CallOptions): Promise<ForgottenOut>;
    /** Stops logging turns, until a time or until `resume_log`. */
    pause(body: Pause, options?: CallOptions): Promise<RulesOut>;
    /** Returns a prompt that gives a new session the last turns of a lost one; empty if nothing is logged. */
    recovery(query?: { turns?: number; chars?: number; name?: string; session?: string | null }, options?: CallOptions): Promise<TextOut>;
    /** Resumes logging. */
    resume(options?: CallOptions): Promise<RulesOut>;
    /** Returns what is not logged: whether the log is paused, and the excluded sessions and folders. */
    rules(options?: CallOptions): Promise<RulesOut>;
    /** Finds turns that contain words of the query, best first. */
    searchTurns(query: { q: string; limit?: number }, options?: CallOptions): Promise<TurnOut[]>;
    /** Excludes sessions (a name, or a pattern with `*`) and folders with their subfolders from the log from now on; `remove` ends the exclusion. Turns already logged stay: see `forget_turns`. */
    setLogAside(body: Aside, options?: CallOptions): Promise<RulesOut>;
    /** Returns the size of the log, roughly how much of the store it takes, and how much a year at this rate would take. */
    size(options?: CallOptions): Promise<SizeOut>;
    /** Lists the speakers in the conversation log with the number of their turns and the time of the last one; most turns first. */
    speakers(query?: { limit?: number }, options?: CallOptions): Promise<SpeakerOut[]>;
    /** Adds a message of a user, an assistant or the system to the conversation log, where recall finds it. `speaker` is the speaker's name, if there are several users. `trust` says where the words come from, if not from the role itself: `tool` for the output of a tool or a page, `import` for a pasted document. `folder` is where the agent works; `log_rules` may exclude it. */
    turn(body: NewTurn, options?: CallOptions): Promise<TurnOut>;
    /** Lists turns of the log, newest first; `before` is the id of the last one seen. */
    turns(query?: { limit?: number; session?: string | null; before?: string | null }, options?: CallOptions): Promise<TurnOut[]>;
  };
  readonly memories: {
    /** Records that a memory was used. Appearing in a recall does not count as use. */
    access(memoryId: string | number, options?: CallOptions): Promise<MemoryOut>;
    /** Records that all of them were used, at the same moment. */
    accessMany(body: Batch, options?: CallOptions): Promise<MemoryOut[]>;
    /** Archives a memory: it is kept, but hidden from recall and lists. */
    archive(memoryId: string | number, query?: { reason?: string }, options?: CallOptions): Promise<MemoryOut>;
    /** Hides several memories from recall and lists, and keeps them. */
    archiveMany(body: Batch, options?: CallOptions): Promise<MemoryOut[]>;
    /** Returns the file of a memory, as it was sent. */
    attachment(memoryId: string | number, options?: CallOptions): Promise<Response>;
    /** Removes several memories permanently, or none of them; with `everywhere`, also what their traces name. */
    batchDelete(body: Purge, options?: CallOptions): Promise<ManyDeleted>;
    /** Moves several memories to another hub. They are stored there before they are forgotten here, where their history stays and a restore brings them back. */
    batchMove(body: Move, options?: CallOptions): Promise<MemoryOut[]>;
    /** Removes a memory and its whole history permanently; only a receipt without content stays. With `everywhere`, also what its traces name. */
    delete(memoryId: string | number, query?: { everywhere?: boolean }, options?: CallOptions): Promise<Deleted>;
    /** Compares two versions; by default, the last change. */
    diff(memoryId: string | number, query?: { old?: number | null; new?: number | null }, options?: CallOptions): Promise<DiffOut[]>;
    /** Like `get`, but also finds a forgotten memory. */
    find(query: { reference: string }, options?: CallOptions): Promise<MemoryOut>;
    /** Hides a memory everywhere; `restore` or `undo` brings it back. */
    forget(memoryId: string | number, query?: { reason?: string }, options?: CallOptions): Promise<MemoryOut>;
    /** Hides several memories, or none of them; a restore brings them back. */
    forgetMany(body: Batch, options?: CallOptions): Promise<MemoryOut[]>;
    /** Returns one memory by id, number or key; its ETag is its version. */
    get(memoryId: string | number, query?: { as_of?: string | null }, options?: CallOptions): Promise<MemoryOut>;
    /** Returns everything that happened to a memory, oldest first. */
    history(memoryId: string | number, options?: CallOptions): Promise<EntryOut[]>;
    /** Lists memories in an order, a page at a time; the cursor of a page fetches the next one. `where` holds conditions on metadata and fields, as a line of text or a JSON object. */
    list(query?: { category?: string | null; kind?: string | null; state?: string | null; stability?: string | null; layer?: string | null; source?: string | null; tag?: string[] | null; session?: string | null; pinned?: boolean | null; since?: string | null; until?: string | null; where?: Record<string, unknown> | string | null; forgotten?: boolean; quarantined?: boolean; order?: string; limit?: number; cursor?: string | null; as_of?: string | null }, options?: CallOptions): Promise<MemoryPage>;
    /** Sets fields. With `If-Match`, only if the memory is still at that version (else 412). */
    patch(memoryId: string | number, body: MemoriesChanges, options?: CallOptions): Promise<MemoryOut>;
    /** Pins a memory: it does not age, and ranks a little higher. */
    pin(memoryId: string | number, options?: CallOptions): Promise<MemoryOut>;
    /** Stores a memory: 201 if it is new, 200 if it exists already or is a new version. */
    push(body: NewMemory, options?: CallOptions): Promise<Pushed>;
    /** Stores all memories or none, as one change set. */
    pushMany(body: Pushes, options?: CallOptions): Promise<Pushed[]>;
    /** Finds memories similar to a memory. */
    related(memoryId: string | number, query?: { limit?: number }, options?: CallOptions): Promise<RelatedOut>;
    /** Brings back a memory that was forgotten, archived or held for review. */
    restore(memoryId: string | number, query?: { reason?: string }, options?: CallOptions): Promise<MemoryOut>;
    /** Restores several memories, or none of them. */
    restoreMany(body: Batch, options?: CallOptions): Promise<MemoryOut[]>;
    /** Lists every visible memory by number, also archived and expired ones; `after` is the number of the last one that was seen. */
    scan(query?: { after?: number; limit?: number }, options?: CallOptions): Promise<MemoryOut[]>;
    /** Finds memories that contain a text or, with `words`, all of its words; nothing in it is syntax. */
    search(query: { q: string; limit?: number; category?: string | null; layer?: string | null; order?: string; words?: boolean }, options?: CallOptions): Promise<MemoryOut[]>;
    /** Lists what else contains its words: the same text in another layer, and turns of the log. Of a forgotten memory, what was hidden with it. */
    traces(memoryId: string | number, options?: CallOptions): Promise<TracesOut>;
    /** Unpin */
    unpin(memoryId: string | number, options?: CallOptions): Promise<MemoryOut>;
    /** Stores a file: 201 with a memory in state `processing`, which gets its text when a worker has read it; 200 if the file exists already, or is a new version of the memory with its path or key. */
    upload(form: FormData, options?: CallOptions): Promise<Pushed>;
  };
  readonly orgs: {
    /** Creates an organisation, owned by the caller. */
    create(body: NewOrg, options?: CallOptions): Promise<OrgOut>;
    /** Creates an invitation: a one-time token for a role. Only this answer contains the token. */
    createInvite(orgId: string | number, body: NewInvite, options?: CallOptions): Promise<InviteHanded>;
    /** Returns one organisation by id or name. */
    get(orgId: string | number, options?: CallOptions): Promise<OrgOut>;
    /** Lists the caller's organisations, by name. */
    list(options?: CallOptions): Promise<OrgOut[]>;
    /** Lists the invitations, also used ones, without their tokens. */
    listInvites(orgId: string | number, options?: CallOptions): Promise<InviteOut[]>;
    /** Lists the members. Only members may ask. */
    listMembers(orgId: string | number, options?: CallOptions): Promise<MemberOut[]>;
    /** Removes an organisation; 409 while it has teams. Hubs that were shared with it stay, for their members. */
    remove(orgId: string | number, options?: CallOptions): Promise<Removed>;
    /** Removes a member; anyone may leave. */
    removeMember(orgId: string | number, actor: string | number, options?: CallOptions): Promise<Removed>;
    /** Renames an organisation. */
    rename(orgId: string | number, body: NewName, options?: CallOptions): Promise<OrgOut>;
    /** Adds a member or changes their role. Only an owner may add or change an owner. */
    setMember(orgId: string | number, actor: string | number, body: NewRole, options?: CallOptions): Promise<MemberOut>;
    /** Withdraws an invitation. */
    withdrawInvite(orgId: string | number, inviteId: string | number, options?: CallOptions): Promise<Withdrawn>;
  };
  readonly review: {
    /** Approves items of the review inbox: those named, `every` one, or those of a `kind` or from a `source`. A single item may be given another `text`. An approved item replaces the memory that it contradicts or renews, unless `keep_both`. Returns the memories that are now visible. */
    approve(body: Approval, options?: CallOptions): Promise<MemoryOut[]>;
    /** Counts the items that wait for review. */
    count(options?: CallOptions): Promise<CountOut>;
    /** Lists what is hidden until a person has reviewed it, oldest first: all, or of a kind (quarantined, conflict, low_trust), or from a source (mcp, an agent, a file or folder). */
    list(query?: { kind?: string | null; source?: string | null; limit?: number | null }, options?: CallOptions): Promise<ItemOut[]>;
    /** Rejects items of the review inbox: they are archived and stay hidden; `undo` brings them back to review. */
    reject(body: Chosen, options?: CallOptions): Promise<MemoryOut[]>;
  };
  readonly teams: {
    /** Creates a team in an organisation that the caller manages, owned by the caller. */
    create(body: NewTeam, options?: CallOptions): Promise<TeamOut>;
    /** Creates an invitation: a one-time token for a role. Only this answer contains the token. */
    createInvite(teamId: string | number, body: NewInvite, options?: CallOptions): Promise<InviteHanded>;
    /** Returns one team by id or name. */
    get(teamId: string | number, options?: CallOptions): Promise<TeamOut>;
    /** Lists the caller's teams and the other teams of the caller's organisations, by name. */
    list(options?: CallOptions): Promise<TeamOut[]>;
    /** Lists the invitations, also used ones, without their tokens. */
    listInvites(teamId: string | number, options?: CallOptions): Promise<InviteOut[]>;
    /** Lists the members. Only members may ask. */
    listMembers(teamId: string | number, options?: CallOptions): Promise<MemberOut[]>;
    /** Removes a team. Its hubs stay and belong to no team: memories for the team are then for the members of the hub alone. */
    remove(teamId: string | number, options?: CallOptions): Promise<Removed>;
    /** Removes a member; anyone may leave. */
    removeMember(teamId: string | number, actor: string | number, options?: CallOptions): Promise<Removed>;
    /** Renames a team. */
    rename(teamId: string | number, body: NewName, options?: CallOptions): Promise<TeamOut>;
    /** Adds a member or changes their role. Only an owner may add or change an owner. */
    setMember(teamId: string | number, actor: string | number, body: NewRole, options?: CallOptions): Promise<MemberOut>;
    /** Withdraws an invitation. */
    withdrawInvite(teamId: string | number, inviteId: string | number, options?: CallOptions): Promise<Withdrawn>;
  };
}
