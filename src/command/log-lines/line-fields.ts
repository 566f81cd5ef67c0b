/**
 * Forms of a field. `word`: text of the program or its settings. `text`: the message of an error or of a server, which is
 * shortened, and hidden when it holds what looks like a wallet address. `error`: a thrown value.
 */
export type FieldForms = {
  number: number
  numbers: readonly number[]
  word: string
  text: string
  error: unknown
  settings: Readonly<Record<string, string | number | boolean>>
}

type Field = Readonly<{ form: keyof FieldForms; meaning: string }>

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
  connectionsMax: { form: 'number', meaning: 'most connections of one serving thread, or of the listener' },
  count: { form: 'number', meaning: 'number of times' },
  door: { form: 'word', meaning: 'address of the private listener' },
  drafts: { form: 'numbers', meaning: 'numbers of the drafts, as `daybook held list` prints them' },
  drainMs: { form: 'number', meaning: 'milliseconds over which streams end' },
  err: { form: 'error', meaning: 'name, message and stack of the error' },
  events: { form: 'number', meaning: 'number of events' },
  evidence: { form: 'word', meaning: 'folder with the evidence of a contradiction' },
  fault: { form: 'word', meaning: 'kind of the fault' },
  field: { form: 'word', meaning: 'field of the draft at fault; `none` when the whole request is' },
  file: { form: 'word', meaning: 'path of a file' },
  first: { form: 'number', meaning: 'first seq' },
  head: { form: 'number', meaning: 'newest seq of the log' },
  held: { form: 'number', meaning: 'drafts that are held now' },
  last: { form: 'number', meaning: 'last seq' },
  logs: { form: 'number', meaning: 'number of logs that are cosigned' },
  ms: {
    form: 'number',
    meaning: 'duration in milliseconds; of commits, from the arrival of the first request',
  },
  node: { form: 'word', meaning: 'version of Node' },
  of: { form: 'word', meaning: 'the log, fact, event, draft or listener that the line is about' },
  openFiles: { form: 'number', meaning: 'files that the process may open' },
  place: { form: 'number', meaning: 'place of a row in the table of the log' },
  port: { form: 'number', meaning: 'port of the public listener' },
  publishPort: { form: 'number', meaning: 'port of the private listener' },
  reason: { form: 'text', meaning: 'reason in words' },
  request: { form: 'word', meaning: 'id of the request, which its answer has as `Daybook-Request`' },
  requests: { form: 'number', meaning: 'publish requests of the commits' },
  route: { form: 'word', meaning: 'template of the path; `none` when no route matched' },
  rpc: { form: 'word', meaning: 'number and host of the URL of the RPC server' },
  rpcCode: {
    form: 'word',
    meaning:
      'code of the error that the RPC server answered, or HTTP status; `other` for a rare one, `none` without one',
  },
  schema: { form: 'number', meaning: 'schema of the store that this version reads' },
  seq: { form: 'number', meaning: 'last seq that was sent' },
  serverWords: {
    form: 'text',
    meaning: 'words of the RPC server, without what may be a key or an address; left out without any',
  },
  settings: { form: 'settings', meaning: 'options by name, without secrets' },
  size: { form: 'number', meaning: 'size of the tree' },
  sqlite: { form: 'word', meaning: 'version of SQLite' },
  stage: {
    form: 'word',
    meaning: 'part of a build: `months`, `events`, `indexes` or `proving`',
  },
  status: { form: 'number', meaning: 'HTTP status of the answer' },
  thread: { form: 'word', meaning: 'name of the thread' },
  threads: { form: 'number', meaning: 'number of serving threads' },
  traceparent: {
    form: 'word',
    meaning: 'the W3C `traceparent` of the request; left out when it is absent or malformed',
  },
  url: { form: 'word', meaning: 'address of the public listener' },
  version: { form: 'word', meaning: 'version of Daybook' },
  wantedEvents: { form: 'number', meaning: 'events that the origin has shown' },
  wanted: { form: 'number', meaning: 'connections that all threads want together' },
  witness: { form: 'word', meaning: 'name of the key of a witness' },
  words: { form: 'word', meaning: 'text of the command for its user' },
} as const
export type LineField = keyof typeof LINE_FIELDS

/** Form and meaning of a field. */
export function fieldOf(name: LineField): Field {
  return LINE_FIELDS[name]
}
