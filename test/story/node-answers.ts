import type { PublicLog } from './public-log.ts'

const LOG_ID = 'a'.repeat(32)

/** Answer of a node that has this log, with the headers that say whether it may change, and up to which event it counts. */
export function answerOfNode(log: PublicLog, path: string): Response {
  const body = pageFrom(log, path) ?? statusOf(log, path) ?? log.body(path)
  if (body === undefined) return new Response('{}', { status: 404 })
  const asOf = /"asOf":\{"seq":(\d+)/.exec(Buffer.from(body).toString('latin1'))?.[1]
  const type = body[0] === '{'.charCodeAt(0) ? 'application/json' : 'application/octet-stream'
  const caching = isSettled(log, path)
    ? 'public, max-age=31536000, immutable'
    : 'public, max-age=0, must-revalidate'
  const seq = asOf ?? (isSettled(log, path) ? null : String(sizeOf(log)))
  return new Response(Buffer.from(body), {
    headers: {
      'content-type': type,
      'cache-control': caching,
      ...(seq === null ? {} : { 'daybook-seq': seq }),
    },
  })
}

/** Page of the events from a moment on, as export asks for it: the seq before the moment, and one event. */
function pageFrom(log: PublicLog, path: string): Uint8Array | undefined {
  const from = /^events\?from=(\d+)&limit=1$/.exec(path)?.[1]
  if (from === undefined) return undefined
  const { events }: { events: { atMs: number }[] } = JSON.parse(
    Buffer.from(log.body('events?limit=10000') ?? []).toString(),
  )
  const after = events.filter(({ atMs }) => atMs < Number(from)).length
  return Buffer.from(JSON.stringify({ events: events.slice(after, after + 1), page: { after } }))
}

/** The part of `/status` that a command needs. */
function statusOf(log: PublicLog, path: string): Uint8Array | undefined {
  if (path !== 'status') return undefined
  const head = { seq: sizeOf(log) }
  return Buffer.from(JSON.stringify({ log: LOG_ID, head, following: { state: 'leader' } }))
}

/** Number of events that the checkpoint of a log covers. */
export function sizeOf(log: PublicLog): number {
  return Number(
    Buffer.from(log.body('log/checkpoint') ?? [])
      .toString()
      .split('\n')[1],
  )
}

function lastMsOf(log: PublicLog): number {
  const page = Buffer.from(log.body('events?order=desc&limit=1') ?? []).toString()
  return Number(/"atMs":(\d+)/.exec(page)?.[1] ?? 0)
}

/** Whether an answer never changes, as PROTOCOL.md says in section 5. */
function isSettled(log: PublicLog, path: string): boolean {
  const month = /^archive\/(\d{4}-\d{2})\./.exec(path)?.[1]
  if (month !== undefined) return log.body(`archive/${month}.json`) !== undefined
  const page = /^events\?after=(\d+)&limit=(\d+)/.exec(path)
  if (page !== null) return Number(page[1]) + Number(page[2]) < sizeOf(log)
  const [, at, to] = /^summary\?at=(\d+)|^(?:flows|patterns)\?.*\bto=(\d+)/.exec(path) ?? []
  if (at !== undefined) return Number(at) < lastMsOf(log)
  if (to !== undefined) return Number(to) <= lastMsOf(log)
  return /^events\/\d+(?:\/details)?$|^log\/tile\//.test(path)
}
