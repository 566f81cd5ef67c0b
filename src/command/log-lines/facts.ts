import { keysOf, recordOf } from '../../protocol/brand.ts'

/** Levels of log lines, the gravest first. */
export const LINE_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug'] as const
export type LineLevel = (typeof LINE_LEVELS)[number]

/**
 * Every fact that has a log line: its level, its message, and after `|` the fields that the message lacks.
 * docs/log-lines.md has the same table.
 */
const ROWS = {
  starting: 'info: daybook {version} starts | schema node sqlite',
  options: 'info: options in effect | settings',
  ready: 'info: listening on {url} · publish API on {privateUrl} · head {head} · {ms} ms',
  note: 'info: {words}',
  development: 'warn: {of} is a log for development: never publish it',
  'one-thread': 'warn: threads cannot share a port on this system: one thread serves',
  'few-files':
    'warn: this process may open {openFiles} files only: raise LimitNOFILE or ulimit -n | connectionsMax wanted threads',
  published: 'info: published seq {first} to {last} in {ms} ms | events commits requests held',
  held: 'info: drafts held: {added} more, {held} in all | requests ms',
  refused: 'info: refused a request at the publish API: {code} | request status field',
  accepted: 'debug: accepted a request at the publish API | request status code',
  unauthorized: 'warn: a request at the publish API had no valid token | request status code',
  unaccepting: 'warn: the publish API accepts nothing: {code} | request status',
  'publish-api-failed': 'error: a request on the private listener failed | reason request',
  failed: 'error: a request failed | err request route status code ms',
  unready: 'warn: a request was answered {status}: {code} | request route ms',
  slow: 'warn: an answer took {ms} ms: {route} | request status code',
  problem: 'debug: a request was answered {status}: {code} | request route ms',
  answered: 'debug: answered {route} | request status code ms',
  'read-failed': 'error: a read of the log failed: {of} | err',
  'stream-cut': 'info: a stream was cut: {fault} | seq',
  'stream-ended': 'debug: a stream ended: {fault} | seq',
  'export-cut': 'info: a CSV file of the log was cut: its reader had stalled | seq',
  'answer-cut': 'info: an answer was cut, because its reader did not read it: {fault}',
  'connections-full':
    'warn: the limit of connections is reached: further ones are closed | count connectionsMax',
  'listener-crowded':
    'warn: the {of} listener has {connectionsMax} connections: a further one ends an idle one | count',
  'audit-begun': 'info: an audit of the whole log begins',
  audited: 'info: an audit found the whole log right: {events} events | ms',
  'audit-failed': 'warn: an audit of the whole log was interrupted and will soon begin again: {reason}',
  'parquet-made': 'info: made the Parquet file of {month} | bytes ms',
  'parquet-damaged': 'warn: the Parquet file of {month} was damaged and is removed | file',
  'parquet-failed': 'warn: the Parquet file of {month} was not made: {reason}',
  'backed-up': 'info: a verified backup holds {events} events | ms',
  'store-replaced': 'error: {file} was replaced or removed: no event is published until a restart',
  'clock-wrong': 'error: {reason} | fault',
  'clock-right': 'info: the clock agrees again: events are published',
  'disk-full': 'error: the disk is full: no event is published until there is room',
  'disk-room': 'info: the disk has room again: events are published',
  'held-unasked': 'warn: drafts are held, and no chain is asked: give --finality, or use daybook held | held',
  'chain-known': 'info: the chain is asked about transactions | chain',
  'chain-silent': 'warn: too few servers of --finality answer: drafts with a transaction are held',
  'chain-other': 'error: --finality: {words}; nothing is settled until the servers agree',
  'rpc-fault': 'warn: a server of --finality gave no usable answer | rpc fault rpcCode count serverWords',
  'chain-overdue':
    'warn: drafts wait for longer than --finality-overdue; the servers say: {reason} | drafts count',
  'amounts-more': 'error: payouts name more than their transaction moved: these drafts stay held | drafts',
  'amounts-less': 'warn: payouts name less than their transaction moved: see verify --payer --token | drafts',
  contradicted: 'error: the chain contradicts {of}: {reason}',
  'chain-failed': 'error: a request to the chain failed | reason',
  'log-leads': 'info: this node leads the log, after row {place}',
  'log-left': 'warn: this node no longer leads the log: {reason}',
  'table-away': 'warn: the database of the log cannot be used: {reason}',
  'table-changed': 'warn: the table of the log has changed: {reason}',
  'table-clock': 'warn: the clock of the database differs by {ms} ms',
  'rows-put-back': 'error: put {count} lost rows back into the table of the log',
  'fork-kept': 'error: keeps {count} rows of two branches',
  'log-stopped': 'error: nothing is published until an operator acts, from row {place} on: {reason} | fault',
  'commit-unwritten': 'error: a commit could not be written: {reason}',
  'metrics-failed': 'error: the metrics could not be read | err thread',
  'page-failed': 'error: the first page failed | err',
  suppressed: 'warn: left out {count} more lines of the fact {of} in one second',
  lost: 'warn: lost {count} lines, because nobody read the lines before them',
  stopping: 'info: stopping: streams end within {drainMs} ms',
  stopped: 'info: stopped after {ms} ms',
  'stop-cut': 'error: the stop has not ended after {ms} ms: what is still open is cut',
  broken: 'fatal: the service stops: {reason}',
  rejection: 'fatal: unhandled rejection | err',
  crashed: 'fatal: the command failed | err',
  mirroring: 'info: a mirror of {of} · listening on {url} · metrics on {privateUrl} · head {head} · {ms} ms',
  'mirror-asking': 'info: asks {of} for its log',
  'mirror-building': 'info: builds the mirror ({stage}): {events} of {wantedEvents} events',
  'mirror-built': 'info: the mirror is built and proved: {events} events in {ms} ms',
  mirrored: 'debug: proved {events} more events, up to seq {last}',
  'origin-lost': 'warn: the origin cannot be followed: {reason}',
  'origin-back': 'info: the origin is followed again',
  'origin-contradicts': 'error: the origin contradicts itself and is not followed: {reason}; see {evidence}',
  'witness-cosigns': 'info: the witness {witness} cosigns the log, up to seq {last}',
  'witness-refuses': 'warn: the witness {witness} does not cosign the log: {fault}',
  'witness-disagrees': 'error: the witness {witness} contradicts this log: {fault}',
  witnessed: 'debug: a quorum of witnesses vouches for the events up to seq {last}',
  'feed-failed': 'error: the witnesses cannot be asked, or their cosignatures not kept: {reason}',
  witnessing: 'info: the witness {of} · listening on {url} · metrics on {privateUrl} · {logs} logs · {ms} ms',
  cosigned: 'debug: cosigned {of} at size {size}',
  'checkpoint-refused': 'info: refused to cosign a checkpoint: {fault} | status',
  'witness-back': 'error: the state of this witness for {of} went back: it had cosigned size {size}',
  'log-contradicts': 'error: {of} has signed two trees of one size; the evidence is in {evidence}',
  'witness-clock': 'error: the clock is {ms} ms behind the last cosignature of {of}, which is not cosigned',
  'witness-unwritten': 'error: nothing is cosigned, because the state cannot be written: {reason}',
  'witness-failed': 'error: a request to the witness could not be answered | err',
} as const
export type FactName = keyof typeof ROWS

/** Fields that are numbers. A name has the same meaning in every fact. */
const NUMBERS = {
  added: 'drafts of the commit that are held',
  bytes: 'size of a file',
  commits: 'commits that the line counts together',
  connectionsMax: 'most connections of one serving thread, or of the listener',
  count: 'number of times',
  drainMs: 'milliseconds over which streams end',
  events: 'number of events',
  first: 'first seq',
  head: 'newest seq of the log',
  held: 'drafts that are held now',
  last: 'last seq',
  logs: 'number of logs that are cosigned',
  ms: 'duration in milliseconds; of commits, from the arrival of the first request',
  openFiles: 'files that the process may open',
  place: 'place of a row in the table of the log',
  requests: 'publish requests of the commits',
  schema: 'schema of the store that this version reads',
  seq: 'last seq that was sent',
  size: 'size of the tree',
  status: 'HTTP status of the answer',
  threads: 'number of serving threads',
  wanted: 'connections that all threads want together',
  wantedEvents: 'events that the origin has shown',
} as const

/** Fields with text of the program or its settings. */
const WORDS = {
  caller:
    'network of the caller, only with `--log-callers`: the first 24 bits of an IPv4 address, 48 of IPv6',
  chain: 'genesis hash or id of the blockchain',
  code: 'code of the problem, as in [errors](errors.md); `none` without one',
  evidence: 'folder with the evidence of a contradiction',
  fault: 'kind of the fault',
  field: 'field of the draft at fault; `none` when the whole request is',
  file: 'path of a file',
  month: 'month of the archive, yyyy-mm',
  node: 'version of Node',
  of: 'the log, fact, event, draft or listener that the line is about',
  privateUrl: 'address of the private listener',
  request: 'id of the request, which its answer has as `Daybook-Request`; `none` without one',
  route: 'template of the path; `none` when no route matched',
  rpc: 'number and host of the URL of the RPC server',
  rpcCode:
    'code of the error that the RPC server answered, or HTTP status; `other` for a rare one, `none` without one',
  sqlite: 'version of SQLite',
  stage: 'part of a build: `months`, `events`, `indexes` or `proving`',
  thread: 'name of the thread',
  traceparent: 'the W3C `traceparent` of the request; left out when it is absent or malformed',
  url: 'address of the public listener',
  version: 'version of Daybook',
  witness: 'name of the key of a witness',
  words: 'text of the command for its user',
} as const

/**
 * Fields with the message of an error or of a server. It is shortened, and hidden when it looks like a wallet address.
 */
export const TEXTS = {
  reason: 'reason in words',
  serverWords: 'words of the RPC server, without what may be a key or an address; left out without any',
} as const

const OTHERS = {
  drafts: 'numbers of the drafts, as `daybook held list` prints them',
  err: 'name, message and stack of the error',
  settings: 'options by name, without secrets',
} as const

/** Meaning of each field. */
export const LINE_FIELDS = { ...NUMBERS, ...WORDS, ...TEXTS, ...OTHERS } as const

type FieldValues = Record<keyof typeof NUMBERS, number> &
  Record<keyof typeof WORDS | keyof typeof TEXTS, string> & {
    drafts: readonly number[]
    err: unknown
    settings: Readonly<Record<string, string | number | boolean>>
  }

/** Fields that a line may lack. Each line with a `request` may have the first two. */
export const OPTIONAL_FIELDS = ['traceparent', 'caller', 'serverWords'] as const
type OptionalField = (typeof OPTIONAL_FIELDS)[number]

type InMessage<Text> = Text extends `${string}{${infer Field}}${infer Rest}` ? Field | InMessage<Rest> : never
type Words<Text> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text
type Named<Row> = Row extends `${infer Message} | ${infer More}`
  ? InMessage<Message> | Words<More>
  : InMessage<Row>
type OfRequest<Field> = 'request' extends Field ? 'traceparent' | 'caller' : never
type FieldOf<Name extends FactName> = keyof FieldValues &
  (Named<(typeof ROWS)[Name]> | OfRequest<Named<(typeof ROWS)[Name]>>)

/** Fields of a fact's line, by name. */
export type FieldsOf<Name extends FactName> = Readonly<
  Pick<FieldValues, Exclude<FieldOf<Name>, OptionalField>> & {
    [Field in Extract<FieldOf<Name>, OptionalField>]?: FieldValues[Field] | undefined
  }
>

type Fact = Readonly<{
  level: LineLevel
  message: string
  /** Names of its fields, those in the message first. */
  fields: readonly string[]
}>

/** The facts by name. */
export const FACTS: Readonly<Record<FactName, Fact>> = recordOf(keysOf(ROWS), (name) => parseRow(ROWS[name]))

function parseRow(row: string): Fact {
  const [said = '', more = ''] = row.split(' | ')
  const level = LINE_LEVELS.find((one) => said.startsWith(`${one}: `)) ?? 'error'
  const named = [...said.matchAll(/\{(\w+)\}/g)].map(([, field = '']) => field)
  const fields = [...named, ...more.split(' ').filter((field) => field !== '')]
  return {
    level,
    message: said.slice(level.length + 2),
    fields: fields.includes('request') ? [...fields, 'traceparent', 'caller'] : fields,
  }
}
