import type { Fact } from './fact-form.ts'
import type { FieldForms, LINE_FIELDS, LineField } from './line-fields.ts'
import { PEER_FACTS } from './peer-facts.ts'
import { WITNESS_FACTS } from './witness-facts.ts'

const SERVICE_FACTS = {
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
    said: ['port', 'publishPort'],
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
    text: 'published {events} event(s), seq {first} to {last}, in {ms} ms',
    fields: ['first', 'last', 'events', 'commits', 'requests', 'held', 'ms'],
  },
  held: {
    level: 'info',
    text: 'holds {added} more draft(s)',
    fields: ['added', 'held', 'requests', 'ms'],
  },
  refused: {
    level: 'info',
    text: 'refused a request at the publish door: {code}',
    fields: ['request', 'status', 'code', 'field'],
    optional: ['traceparent', 'caller'],
  },
  accepted: {
    level: 'debug',
    text: 'accepted a request at the publish door',
    fields: ['request', 'status', 'code'],
    optional: ['traceparent', 'caller'],
  },
  unauthorized: {
    level: 'warn',
    text: 'a request at the publish door had no valid token',
    fields: ['request', 'status', 'code'],
    optional: ['traceparent', 'caller'],
  },
  unaccepting: {
    level: 'warn',
    text: 'the publish door accepts nothing: {code}',
    fields: ['request', 'status', 'code'],
    optional: ['traceparent', 'caller'],
  },
  'door-failed': {
    level: 'error',
    text: 'a request on the private listener failed',
    fields: ['reason'],
    optional: ['request', 'traceparent', 'caller'],
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
  'export-cut': {
    level: 'info',
    text: 'a CSV file of the log was cut: its reader took nothing',
    fields: ['seq'],
  },
  'answer-cut': {
    level: 'info',
    text: 'an answer was cut, because its reader did not take it: {fault}',
    fields: ['fault'],
  },
  'connections-full': {
    level: 'warn',
    text: 'the limit of connections is reached: further ones are closed',
    fields: ['count', 'connectionsMax'],
  },
  'listener-crowded': {
    level: 'warn',
    text: 'the {of} listener has {connectionsMax} connections: each further one ends the oldest idle one',
    fields: ['of', 'count', 'connectionsMax'],
  },
  'audit-begun': { level: 'info', text: 'an audit of the whole log begins', fields: [] },
  audited: {
    level: 'info',
    text: 'an audit found the whole log right: {events} event(s)',
    fields: ['events', 'ms'],
  },
  'audit-failed': {
    level: 'warn',
    text: 'an audit of the whole log was broken off, and soon begins again: {reason}',
    fields: ['reason'],
  },
  'backed-up': {
    level: 'info',
    text: 'a verified backup holds {events} event(s)',
    fields: ['events', 'ms'],
  },
  'store-replaced': {
    level: 'error',
    text: '{file} was replaced or removed while the service runs: no event is published until a restart',
    fields: ['file'],
  },
  'clock-wrong': { level: 'error', text: '{reason}', fields: ['fault', 'reason'] },
  'clock-right': { level: 'info', text: 'the clock agrees again: events are published', fields: [] },
  'disk-full': {
    level: 'error',
    text: 'the disk is full: no event is published until there is room',
    fields: [],
  },
  'disk-room': { level: 'info', text: 'the disk has room again: events are published', fields: [] },
  'held-unasked': {
    level: 'warn',
    text: 'drafts are held, and nothing asks the chain about them: start with --finality, or decide with daybook held',
    fields: ['held'],
  },
  'chain-known': { level: 'info', text: 'the chain is asked about transactions', fields: ['chain'] },
  'chain-silent': {
    level: 'warn',
    text: 'too few servers of --finality answer: drafts with a transaction are held until enough do',
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
    fields: ['rpc', 'fault', 'rpcCode', 'count'],
    optional: ['serverWords'],
  },
  'chain-overdue': {
    level: 'warn',
    text: 'drafts wait for the chain for longer than --finality-overdue; the servers say of the first of them: {reason}',
    fields: ['drafts', 'count', 'reason'],
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
  contradicted: { level: 'error', text: 'the chain contradicts {of}: {reason}', fields: ['of', 'reason'] },
  'chain-failed': { level: 'error', text: 'a question to the chain failed', fields: ['reason'] },
  'log-leads': { level: 'info', text: 'this node leads the log, after row {place}', fields: ['place'] },
  'log-left': { level: 'warn', text: 'this node leads the log no longer: {reason}', fields: ['reason'] },
  'table-away': {
    level: 'warn',
    text: 'the database of the log cannot be used: {reason}',
    fields: ['reason'],
  },
  'table-changed': { level: 'warn', text: 'the table of the log has changed: {reason}', fields: ['reason'] },
  'table-clock': { level: 'warn', text: 'the clock of the database differs by {ms} ms', fields: ['ms'] },
  'rows-put-back': {
    level: 'error',
    text: 'put {count} lost row(s) back into the table of the log',
    fields: ['count'],
  },
  'fork-kept': { level: 'error', text: 'keeps {count} row(s) of two branches', fields: ['count'] },
  'log-stopped': {
    level: 'error',
    text: 'nothing is published until an operator acts, from row {place} on: {reason}',
    fields: ['fault', 'place', 'reason'],
  },
  'commit-unwritten': { level: 'error', text: 'a commit could not be written: {reason}', fields: ['reason'] },
  'metrics-failed': { level: 'error', text: 'the metrics could not be read', fields: ['err', 'thread'] },
  'page-failed': { level: 'warn', text: 'the first page failed', fields: ['err'] },
  suppressed: {
    level: 'warn',
    text: 'left out {count} more line(s) of the fact {of} in one second',
    fields: ['of', 'count'],
  },
  lost: {
    level: 'warn',
    text: 'lost {count} line(s), because nobody read the lines before them',
    fields: ['count'],
  },
  stopping: {
    level: 'info',
    text: 'stopping: streams end within {drainMs} ms',
    fields: ['drainMs'],
  },
  stopped: { level: 'info', text: 'stopped after {ms} ms', fields: ['ms'] },
  'stop-cut': {
    level: 'error',
    text: 'the stop has not ended after {ms} ms: what is still open is cut',
    fields: ['ms'],
  },
  broken: { level: 'fatal', text: 'the service stops: {reason}', fields: ['reason'] },
  rejection: { level: 'fatal', text: 'unhandled rejection', fields: ['err'] },
  crashed: { level: 'fatal', text: 'the command failed', fields: ['err'] },
} as const

/** Every fact that a command writes a log line about. docs/log-lines.md has the same table. */
export const FACTS: typeof SERVICE_FACTS & typeof PEER_FACTS & typeof WITNESS_FACTS = {
  ...SERVICE_FACTS,
  ...PEER_FACTS,
  ...WITNESS_FACTS,
}
export type FactName = keyof typeof FACTS

type Optional<Of extends FactName> =
  (typeof FACTS)[Of] extends Readonly<{
    optional: readonly (infer Name extends LineField)[]
  }>
    ? Name
    : never

/** Fields of a fact's line, by name. */
export type FieldsOf<Name extends FactName> = {
  readonly [Each in (typeof FACTS)[Name]['fields'][number]]: FieldForms[(typeof LINE_FIELDS)[Each]['form']]
} & {
  readonly [Each in Optional<Name>]?: FieldForms[(typeof LINE_FIELDS)[Each]['form']] | undefined
}

/** A fact of the table, with the type that all of them have. */
export function factOf(name: FactName): Fact {
  return FACTS[name]
}
