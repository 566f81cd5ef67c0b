/** Levels of log lines, the gravest first. */
export const LINE_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug'] as const
export type LineLevel = (typeof LINE_LEVELS)[number]

/**
 * Forms of a field. `word`: text of the program or its settings. `text`: the message of an error or of a server, which is
 * shortened, and hidden when it holds what looks like a wallet address. `error`: a thrown value.
 */
type Forms = {
  number: number
  numbers: readonly number[]
  word: string
  text: string
  error: unknown
  settings: Readonly<Record<string, string | number | boolean>>
}

type Field = Readonly<{ form: keyof Forms; meaning: string }>

/** Fields of log lines. A name means the same in each fact. */
export const LINE_FIELDS = {
  added: { form: 'number', meaning: 'drafts of the commit that are held' },
  caller: {
    form: 'word',
    meaning:
      'network of the caller, only with `--log-callers`: the first 24 bits of an IPv4 address, 48 of IPv6',
  },
  chain: { form: 'word', meaning: 'genesis hash or id of the blockchain' },
  code: { form: 'word', meaning: 'code of the problem, as in [errors](errors.md); `none` without one' },
  commits: { form: 'number', meaning: 'commits that the line counts together' },
  connectionsMax: { form: 'number', meaning: 'most connections of one serving thread' },
  count: { form: 'number', meaning: 'number of times' },
  door: { form: 'word', meaning: 'address of the private listener' },
  drafts: { form: 'numbers', meaning: 'numbers of the drafts, as `daybook held list` prints them' },
  drainMs: { form: 'number', meaning: 'milliseconds over which streams end' },
  err: { form: 'error', meaning: 'name, message and stack of the error' },
  events: { form: 'number', meaning: 'number of events' },
  fault: { form: 'word', meaning: 'kind of the fault' },
  field: { form: 'word', meaning: 'field of the draft at fault; `none` when the whole request is' },
  first: { form: 'number', meaning: 'first seq' },
  head: { form: 'number', meaning: 'newest seq of the log' },
  held: { form: 'number', meaning: 'drafts that are held now' },
  last: { form: 'number', meaning: 'last seq' },
  ms: { form: 'number', meaning: 'duration in milliseconds' },
  node: { form: 'word', meaning: 'version of Node' },
  of: { form: 'word', meaning: 'the log, fact, event or draft that the line is about' },
  openFiles: { form: 'number', meaning: 'files that the process may open' },
  port: { form: 'number', meaning: 'port of the public listener' },
  publishPort: { form: 'number', meaning: 'port of the private listener' },
  reason: { form: 'text', meaning: 'reason in words' },
  request: { form: 'word', meaning: 'id of the request, which its answer has as `Daybook-Request`' },
  requests: { form: 'number', meaning: 'publish requests of the commits' },
  route: { form: 'word', meaning: 'template of the path; `none` when no route matched' },
  rpc: { form: 'word', meaning: 'number and host of the URL of the RPC server' },
  schema: { form: 'number', meaning: 'schema of the store that this version reads' },
  seq: { form: 'number', meaning: 'last seq that was sent' },
  settings: { form: 'settings', meaning: 'options by name, without secrets' },
  sqlite: { form: 'word', meaning: 'version of SQLite' },
  status: { form: 'number', meaning: 'HTTP status of the answer' },
  thread: { form: 'word', meaning: 'name of the thread' },
  threads: { form: 'number', meaning: 'number of serving threads' },
  traceparent: {
    form: 'word',
    meaning: 'the W3C `traceparent` of the request; left out when it is absent or malformed',
  },
  url: { form: 'word', meaning: 'address of the public listener' },
  version: { form: 'word', meaning: 'version of Daybook' },
  wanted: { form: 'number', meaning: 'connections that all threads want together' },
  words: { form: 'word', meaning: 'text of the command for its user' },
} as const
export type LineField = keyof typeof LINE_FIELDS

type Fact = Readonly<{
  level: LineLevel
  /** Message; `{name}` stands for a field. */
  text: string
  fields: readonly LineField[]
  /** Fields that a line may lack. */
  optional?: readonly LineField[]
}>

/** Every fact that the service writes a log line about. docs/log-lines.md has the same table. */
export const FACTS = {
  starting: {
    level: 'info',
    text: 'daybook {version} starts',
    fields: ['version', 'schema', 'node', 'sqlite'],
  },
  options: { level: 'info', text: 'options in effect', fields: ['settings'] },
  ready: {
    level: 'info',
    text: 'listening on {url} · publish door on {door} · head {head} · {ms} ms',
    fields: ['url', 'door', 'port', 'publishPort', 'head', 'ms'],
  },
  note: { level: 'info', text: '{words}', fields: ['words'] },
  development: { level: 'warn', text: '{of} is a log for development: never publish it', fields: ['of'] },
  'one-thread': {
    level: 'warn',
    text: 'threads cannot share a port on this system: one thread serves',
    fields: [],
  },
  'few-files': {
    level: 'warn',
    text: 'this process may open {openFiles} files: raise that limit (LimitNOFILE, ulimit -n)',
    fields: ['openFiles', 'connectionsMax', 'wanted', 'threads'],
  },
  published: {
    level: 'info',
    text: 'published {events} events, seq {first} to {last}, in {ms} ms',
    fields: ['first', 'last', 'events', 'commits', 'requests', 'held', 'ms'],
  },
  held: {
    level: 'info',
    text: 'holds {added} more drafts',
    fields: ['added', 'held', 'requests', 'ms'],
  },
  refused: {
    level: 'info',
    text: 'refused a request at the publish door: {code}',
    fields: ['status', 'code', 'field'],
    optional: ['traceparent', 'caller'],
  },
  unauthorized: {
    level: 'warn',
    text: 'a request at the publish door had no valid token',
    fields: ['status', 'code'],
    optional: ['traceparent', 'caller'],
  },
  unaccepting: {
    level: 'warn',
    text: 'the publish door accepts nothing: {code}',
    fields: ['status', 'code'],
    optional: ['traceparent', 'caller'],
  },
  'door-failed': {
    level: 'error',
    text: 'a request on the private listener failed',
    fields: ['reason'],
  },
  failed: {
    level: 'error',
    text: 'a request failed',
    fields: ['err', 'request', 'route', 'status', 'code', 'ms'],
    optional: ['traceparent', 'caller'],
  },
  unready: {
    level: 'warn',
    text: 'a request was answered {status}: {code}',
    fields: ['request', 'route', 'status', 'code', 'ms'],
    optional: ['traceparent', 'caller'],
  },
  slow: {
    level: 'warn',
    text: 'an answer took {ms} ms: {route}',
    fields: ['request', 'route', 'status', 'code', 'ms'],
    optional: ['traceparent', 'caller'],
  },
  problem: {
    level: 'debug',
    text: 'a request was answered {status}: {code}',
    fields: ['request', 'route', 'status', 'code', 'ms'],
    optional: ['traceparent', 'caller'],
  },
  answered: {
    level: 'debug',
    text: 'answered {route}',
    fields: ['request', 'route', 'status', 'code', 'ms'],
    optional: ['traceparent', 'caller'],
  },
  'read-failed': { level: 'error', text: 'a read of the log failed: {of}', fields: ['err', 'of'] },
  'stream-cut': {
    level: 'info',
    text: 'a stream was cut: {fault}',
    fields: ['fault', 'seq'],
  },
  'stream-ended': {
    level: 'debug',
    text: 'a stream ended: {fault}',
    fields: ['fault', 'seq'],
  },
  'connections-full': {
    level: 'warn',
    text: 'the limit of connections is reached: further ones are closed',
    fields: ['count', 'connectionsMax'],
  },
  'audit-begun': { level: 'info', text: 'an audit of the whole log begins', fields: [] },
  audited: {
    level: 'info',
    text: 'an audit found the whole log right: {events} events',
    fields: ['events', 'ms'],
  },
  'clock-wrong': { level: 'error', text: '{reason}', fields: ['fault', 'reason'] },
  'clock-right': { level: 'info', text: 'the clock agrees again: events are published', fields: [] },
  'disk-full': {
    level: 'error',
    text: 'the disk is full: no event is published until there is room',
    fields: [],
  },
  'disk-room': { level: 'info', text: 'the disk has room again: events are published', fields: [] },
  'limit-store-lost': { level: 'error', text: 'the store of the allowance is lost', fields: ['err'] },
  'limit-store-back': { level: 'info', text: 'the store of the allowance is back', fields: [] },
  'held-unasked': {
    level: 'warn',
    text: 'drafts are held, and nothing asks the chain about them: start with --finality, or decide with daybook held',
    fields: ['held'],
  },
  'chain-known': { level: 'info', text: 'the chain is asked about transactions', fields: ['chain'] },
  'chain-silent': {
    level: 'warn',
    text: 'no server of --finality answers: drafts with a transaction are held until one does',
    fields: [],
  },
  'chain-other': {
    level: 'error',
    text: '--finality: {words}; nothing is settled until the servers agree',
    fields: ['words'],
  },
  'rpc-fault': {
    level: 'warn',
    text: 'a server of --finality gave no usable answer',
    fields: ['rpc', 'fault', 'count'],
  },
  'amounts-more': {
    level: 'error',
    text: 'payouts name more than their transaction moved: these drafts stay held',
    fields: ['drafts'],
  },
  'amounts-less': {
    level: 'warn',
    text: 'payouts name less than their transaction moved: daybook verify --chain, --payer and --token names them',
    fields: ['drafts'],
  },
  contradicted: {
    level: 'error',
    text: 'the chain contradicts {of}: {reason}',
    fields: ['of', 'reason'],
  },
  'chain-failed': { level: 'error', text: 'a question to the chain failed', fields: ['reason'] },
  'metrics-failed': { level: 'error', text: 'the metrics could not be read', fields: ['err', 'thread'] },
  'page-failed': { level: 'warn', text: 'the first page failed', fields: ['err'] },
  suppressed: {
    level: 'warn',
    text: '{count} more lines of the fact {of} in one second are left out',
    fields: ['of', 'count'],
  },
  lost: {
    level: 'warn',
    text: '{count} lines are lost, because nobody read the lines before them',
    fields: ['count'],
  },
  stopping: {
    level: 'info',
    text: 'stopping: streams end within {drainMs} ms',
    fields: ['drainMs'],
  },
  stopped: { level: 'info', text: 'stopped after {ms} ms', fields: ['ms'] },
  broken: { level: 'fatal', text: 'the service stops: {reason}', fields: ['reason'] },
  rejection: { level: 'fatal', text: 'unhandled rejection', fields: ['err'] },
  crashed: { level: 'fatal', text: 'the command failed', fields: ['err'] },
} as const
export type FactName = keyof typeof FACTS

type Optional<Of extends FactName> =
  (typeof FACTS)[Of] extends Readonly<{
    optional: readonly (infer Name extends LineField)[]
  }>
    ? Name
    : never

/** Fields of a fact's line, by name. */
export type FieldsOf<Name extends FactName> = {
  readonly [Each in (typeof FACTS)[Name]['fields'][number]]: Forms[(typeof LINE_FIELDS)[Each]['form']]
} & {
  readonly [Each in Optional<Name>]?: Forms[(typeof LINE_FIELDS)[Each]['form']] | undefined
}

/** A fact of the table, with the type that all of them have. */
export function factOf(name: FactName): Fact {
  return FACTS[name]
}

/** Form and meaning of a field. */
export function fieldOf(name: LineField): Field {
  return LINE_FIELDS[name]
}
