import { keysOf } from '../../protocol/brand.ts'

/** Levels of log lines, the gravest first. */
export const LINE_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug'] as const
export type LineLevel = (typeof LINE_LEVELS)[number]

/** Level and message of a fact, and the fields that its line has besides those in the message. */
type FactRow = readonly [level: LineLevel, message: string, more?: string]

/** Every fact that has a log line. docs/log-lines.md has the same table. */
export const FACTS = {
  starting: ['info', 'daybook {version} starts', 'schema node sqlite'],
  options: ['info', 'options in effect', 'settings'],
  ready: ['info', 'listening on {url} · publish API on {privateUrl} · head {head} · {ms} ms'],
  note: ['info', '{words}'],
  development: ['warn', '{of} is a log for development: never publish it'],
  'one-thread': ['warn', 'threads cannot share a port on this system: one thread serves'],
  'few-files': [
    'warn',
    'this process may open {openFiles} files only: raise LimitNOFILE or ulimit -n',
    'connectionsMax wanted threads',
  ],
  published: ['info', 'published seq {first} to {last} in {ms} ms', 'events commits requests held'],
  held: ['info', 'holds {added} more drafts', 'held requests ms'],
  refused: ['info', 'refused a request at the publish API: {code}', 'request status field'],
  accepted: ['debug', 'accepted a request at the publish API', 'request status code'],
  unauthorized: ['warn', 'a request at the publish API had no valid token', 'request status code'],
  unaccepting: ['warn', 'the publish API accepts nothing: {code}', 'request status'],
  'publish-api-failed': ['error', 'a request on the private listener failed', 'reason request'],
  failed: ['error', 'a request failed', 'err request route status code ms'],
  unready: ['warn', 'a request was answered {status}: {code}', 'request route ms'],
  slow: ['warn', 'an answer took {ms} ms: {route}', 'request status code'],
  problem: ['debug', 'a request was answered {status}: {code}', 'request route ms'],
  answered: ['debug', 'answered {route}', 'request status code ms'],
  'read-failed': ['error', 'a read of the log failed: {of}', 'err'],
  'stream-cut': ['info', 'a stream was cut: {fault}', 'seq'],
  'stream-ended': ['debug', 'a stream ended: {fault}', 'seq'],
  'export-cut': ['info', 'a CSV file of the log was cut: its reader took nothing', 'seq'],
  'answer-cut': ['info', 'an answer was cut, because its reader did not take it: {fault}'],
  'connections-full': [
    'warn',
    'the limit of connections is reached: further ones are closed',
    'count connectionsMax',
  ],
  'listener-crowded': [
    'warn',
    'the {of} listener has {connectionsMax} connections: a further one ends an idle one',
    'count',
  ],
  'audit-begun': ['info', 'an audit of the whole log begins'],
  audited: ['info', 'an audit found the whole log right: {events} events', 'ms'],
  'audit-failed': ['warn', 'an audit of the whole log broke off, and soon begins again: {reason}'],
  'backed-up': ['info', 'a verified backup holds {events} events', 'ms'],
  'store-replaced': ['error', '{file} was replaced or removed: no event is published until a restart'],
  'clock-wrong': ['error', '{reason}', 'fault'],
  'clock-right': ['info', 'the clock agrees again: events are published'],
  'disk-full': ['error', 'the disk is full: no event is published until there is room'],
  'disk-room': ['info', 'the disk has room again: events are published'],
  'held-unasked': [
    'warn',
    'drafts are held, and no chain is asked: give --finality, or use daybook held',
    'held',
  ],
  'chain-known': ['info', 'the chain is asked about transactions', 'chain'],
  'chain-silent': ['warn', 'too few servers of --finality answer: drafts with a transaction are held'],
  'chain-other': ['error', '--finality: {words}; nothing is settled until the servers agree'],
  'rpc-fault': [
    'warn',
    'a server of --finality gave no usable answer',
    'rpc fault rpcCode count serverWords',
  ],
  'chain-overdue': [
    'warn',
    'drafts wait for longer than --finality-overdue; the servers say: {reason}',
    'drafts count',
  ],
  'amounts-more': [
    'error',
    'payouts name more than their transaction moved: these drafts stay held',
    'drafts',
  ],
  'amounts-less': [
    'warn',
    'payouts name less than their transaction moved: see verify --payer --token',
    'drafts',
  ],
  contradicted: ['error', 'the chain contradicts {of}: {reason}'],
  'chain-failed': ['error', 'a question to the chain failed', 'reason'],
  'log-leads': ['info', 'this node leads the log, after row {place}'],
  'log-left': ['warn', 'this node leads the log no longer: {reason}'],
  'table-away': ['warn', 'the database of the log cannot be used: {reason}'],
  'table-changed': ['warn', 'the table of the log has changed: {reason}'],
  'table-clock': ['warn', 'the clock of the database differs by {ms} ms'],
  'rows-put-back': ['error', 'put {count} lost rows back into the table of the log'],
  'fork-kept': ['error', 'keeps {count} rows of two branches'],
  'log-stopped': [
    'error',
    'nothing is published until an operator acts, from row {place} on: {reason}',
    'fault',
  ],
  'commit-unwritten': ['error', 'a commit could not be written: {reason}'],
  'metrics-failed': ['error', 'the metrics could not be read', 'err thread'],
  'page-failed': ['error', 'the first page failed', 'err'],
  suppressed: ['warn', 'left out {count} more lines of the fact {of} in one second'],
  lost: ['warn', 'lost {count} lines, because nobody read the lines before them'],
  stopping: ['info', 'stopping: streams end within {drainMs} ms'],
  stopped: ['info', 'stopped after {ms} ms'],
  'stop-cut': ['error', 'the stop has not ended after {ms} ms: what is still open is cut'],
  broken: ['fatal', 'the service stops: {reason}'],
  rejection: ['fatal', 'unhandled rejection', 'err'],
  crashed: ['fatal', 'the command failed', 'err'],
  mirroring: [
    'info',
    'a mirror of {of} · listening on {url} · metrics on {privateUrl} · head {head} · {ms} ms',
  ],
  'mirror-asking': ['info', 'asks {of} for its log'],
  'mirror-building': ['info', 'builds the mirror ({stage}): {events} of {wantedEvents} events'],
  'mirror-built': ['info', 'the mirror is built and proved: {events} events in {ms} ms'],
  mirrored: ['debug', 'proved {events} more events, up to seq {last}'],
  'origin-lost': ['warn', 'the origin cannot be followed: {reason}'],
  'origin-back': ['info', 'the origin is followed again'],
  'origin-contradicts': [
    'error',
    'the origin contradicts itself and is not followed: {reason}; see {evidence}',
  ],
  'witness-cosigns': ['info', 'the witness {witness} cosigns the log, up to seq {last}'],
  'witness-refuses': ['warn', 'the witness {witness} does not cosign the log: {fault}'],
  'witness-disagrees': ['error', 'the witness {witness} contradicts this log: {fault}'],
  witnessed: ['debug', 'a quorum of witnesses vouches for the events up to seq {last}'],
  'feed-failed': ['error', 'the witnesses cannot be asked, or their cosignatures not kept: {reason}'],
  witnessing: [
    'info',
    'the witness {of} · listening on {url} · metrics on {privateUrl} · {logs} logs · {ms} ms',
  ],
  cosigned: ['debug', 'cosigned {of} at size {size}'],
  'checkpoint-refused': ['info', 'refused to cosign a checkpoint: {fault}', 'status'],
  'witness-back': ['error', 'the state of this witness for {of} went back: it had cosigned size {size}'],
  'log-contradicts': ['error', '{of} has signed two trees of one size; the evidence is in {evidence}'],
  'witness-clock': [
    'error',
    'the clock is {ms} ms behind the last cosignature of {of}, which is not cosigned',
  ],
  'witness-unwritten': ['error', 'nothing is cosigned, because the state cannot be written: {reason}'],
  'witness-failed': ['error', 'a request to the witness could not be answered', 'err'],
} as const
export type FactName = keyof typeof FACTS

/**
 * Forms of a field. `word`: text of the program or its settings. `text`: the message of an error or of a server, which is
 * shortened, and hidden when it holds what looks like a wallet address. `error`: a thrown value.
 */
type FieldForms = {
  number: number
  numbers: readonly number[]
  word: string
  text: string
  error: unknown
  settings: Readonly<Record<string, string | number | boolean>>
}

/** Form and meaning of each field. A name means the same in every fact. */
export const LINE_FIELDS = {
  added: ['number', 'drafts of the commit that are held'],
  caller: [
    'word',
    'network of the caller, only with `--log-callers`: the first 24 bits of an IPv4 address, 48 of IPv6',
  ],
  chain: ['word', 'genesis hash or id of the blockchain'],
  code: ['word', 'code of the problem, as in [errors](errors.md); `none` without one'],
  commits: ['number', 'commits that the line counts together'],
  connectionsMax: ['number', 'most connections of one serving thread, or of the listener'],
  count: ['number', 'number of times'],
  privateUrl: ['word', 'address of the private listener'],
  drafts: ['numbers', 'numbers of the drafts, as `daybook held list` prints them'],
  drainMs: ['number', 'milliseconds over which streams end'],
  err: ['error', 'name, message and stack of the error'],
  events: ['number', 'number of events'],
  evidence: ['word', 'folder with the evidence of a contradiction'],
  fault: ['word', 'kind of the fault'],
  field: ['word', 'field of the draft at fault; `none` when the whole request is'],
  file: ['word', 'path of a file'],
  first: ['number', 'first seq'],
  head: ['number', 'newest seq of the log'],
  held: ['number', 'drafts that are held now'],
  last: ['number', 'last seq'],
  logs: ['number', 'number of logs that are cosigned'],
  ms: ['number', 'duration in milliseconds; of commits, from the arrival of the first request'],
  node: ['word', 'version of Node'],
  of: ['word', 'the log, fact, event, draft or listener that the line is about'],
  openFiles: ['number', 'files that the process may open'],
  place: ['number', 'place of a row in the table of the log'],
  reason: ['text', 'reason in words'],
  request: ['word', 'id of the request, which its answer has as `Daybook-Request`; `none` without one'],
  requests: ['number', 'publish requests of the commits'],
  route: ['word', 'template of the path; `none` when no route matched'],
  rpc: ['word', 'number and host of the URL of the RPC server'],
  rpcCode: [
    'word',
    'code of the error that the RPC server answered, or HTTP status; `other` for a rare one, `none` without one',
  ],
  schema: ['number', 'schema of the store that this version reads'],
  seq: ['number', 'last seq that was sent'],
  serverWords: [
    'text',
    'words of the RPC server, without what may be a key or an address; left out without any',
  ],
  settings: ['settings', 'options by name, without secrets'],
  size: ['number', 'size of the tree'],
  sqlite: ['word', 'version of SQLite'],
  stage: ['word', 'part of a build: `months`, `events`, `indexes` or `proving`'],
  status: ['number', 'HTTP status of the answer'],
  thread: ['word', 'name of the thread'],
  threads: ['number', 'number of serving threads'],
  traceparent: ['word', 'the W3C `traceparent` of the request; left out when it is absent or malformed'],
  url: ['word', 'address of the public listener'],
  version: ['word', 'version of Daybook'],
  wantedEvents: ['number', 'events that the origin has shown'],
  wanted: ['number', 'connections that all threads want together'],
  witness: ['word', 'name of the key of a witness'],
  words: ['word', 'text of the command for its user'],
} as const

/** Fields that a line may lack. Each line with a `request` may have the first two. */
export const OPTIONAL_FIELDS = ['traceparent', 'caller', 'serverWords'] as const
type OptionalField = (typeof OPTIONAL_FIELDS)[number]

type Words<Text> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text
type InMessage<Text> = Text extends `${string}{${infer Field}}${infer Rest}` ? Field | InMessage<Rest> : never
type Named<Row> = Row extends readonly [unknown, infer Message, ...infer More]
  ? InMessage<Message> | Words<More[number]>
  : never
type OfRequest<Field> = 'request' extends Field ? 'traceparent' | 'caller' : never
type FormOf<Field> = Field extends keyof typeof LINE_FIELDS
  ? FieldForms[(typeof LINE_FIELDS)[Field][0]]
  : never

/** Fields of a fact's line, by name. */
export type FieldsOf<Name extends FactName> = {
  readonly [Field in Exclude<Named<(typeof FACTS)[Name]>, OptionalField>]: FormOf<Field>
} & {
  readonly [
    Field in Extract<Named<(typeof FACTS)[Name]>, OptionalField> | OfRequest<Named<(typeof FACTS)[Name]>>
  ]?: FormOf<Field> | undefined
}

/** Names of the fields of a fact, those in its message first. */
export function lineFieldsOf(name: FactName): readonly string[] {
  const [, message, more = '']: FactRow = FACTS[name]
  const named = [...message.matchAll(/\{(\w+)\}/g)].map(([, field = '']) => field)
  const all = [...named, ...more.split(' ').filter((field) => field !== '')]
  return all.includes('request') ? [...all, 'traceparent', 'caller'] : all
}

/** Form of a field, by name. */
export const FIELD_FORMS: ReadonlyMap<string, keyof FieldForms> = new Map(
  keysOf(LINE_FIELDS).map((name) => [name, LINE_FIELDS[name][0]]),
)
