/** Name of a stream by its number, which counts from 1 and grows with `cluster roll`. */
export function streamName(stream: number): string {
  return `daybook-${stream}`
}

/** Subject of the messages of a stream. */
export function commitsSubject(stream: number): string {
  return `daybook.commits.${stream}`
}

/** Subject of hints: the newest place of a stream, as text. */
export function hintsSubject(stream: number): string {
  return `daybook.hints.${stream}`
}

/** Subject on which writers tell each other their marks. */
export const MARKS_SUBJECT = 'daybook.marks'

/** Prefix of the reply subjects of the running user: other users of the account cannot listen there. */
export const INBOX_PREFIX = '_INBOX_daybook'

/** Requests to the brokers themselves, answered by every broker when `who` is `PING`. */
export function brokerSubject(who: string, what: 'RAFTZ' | 'JSZ' | 'VARZ'): string {
  return `$SYS.REQ.SERVER.${who}.${what}`
}

/** Request for the present user and its permissions. */
export const USER_SUBJECT = '$SYS.REQ.USER.INFO'

/** Request for messages from any replica of a stream. */
export function directSubject(stream: number): string {
  return `$JS.API.DIRECT.GET.${streamName(stream)}`
}

/** Subjects that the running user needs, and the only ones that it may use. */
export const NEEDED: Readonly<Record<'publish' | 'subscribe', readonly string[]>> = {
  publish: [
    'daybook.commits.*',
    'daybook.hints.*',
    MARKS_SUBJECT,
    '$JS.API.DIRECT.GET.*',
    brokerSubject('*', 'RAFTZ'),
    brokerSubject('*', 'JSZ'),
    brokerSubject('*', 'VARZ'),
    USER_SUBJECT,
  ],
  subscribe: [`${INBOX_PREFIX}.>`, 'daybook.hints.*', MARKS_SUBJECT],
}

/** Whether each subject of the pattern `inner` is also one of `outer`. */
export function covers(outer: string, inner: string): boolean {
  const [wide, narrow] = [outer.split('.'), inner.split('.')]
  for (const [at, token] of wide.entries()) {
    if (token === '>') return narrow.length > at
    const other = narrow[at]
    if (other === undefined || other === '>') return false
    if (token !== '*' && token !== other) return false
  }
  return narrow.length === wide.length
}
