import type { Daybook } from '../../client/daybook.ts'
import { DaybookError } from '../../client/daybook-error.ts'
import { type Diagnosis, ok, wrong } from './diagnosis.ts'
import { failureText } from './doctor-failure.ts'

/** A stream of the service: its name in the report, and its path. */
type NamedStream = Readonly<{ what: string; path: string }>

/** Whether the bytes of a stream arrive at once, with headers that keep caches and compression away. */
export async function streamDiagnosis(
  { ask }: Daybook,
  { what, path }: NamedStream,
  waitMs: number,
  signal: AbortSignal,
): Promise<Diagnosis> {
  try {
    const { headers, stream } = await ask.open(path, {
      attemptsMax: 1,
      silenceMs: waitMs,
      accept: 'text/event-stream',
      signal,
    })
    const reader = stream.getReader()
    const first = await reader.read()
    await reader.cancel()
    return faultOf(what, headers, first.done) ?? ok(what, 'events arrive at once: no proxy buffers them')
  } catch (error) {
    if (!(error instanceof DaybookError)) throw error
    if (error.code !== 'timeout') return wrong(what, failureText(error))
    return wrong(what, `no bytes arrived in ${waitMs / 1_000} s: a proxy buffers ${path}; turn that off`)
  }
}

function faultOf(what: string, headers: Headers, isEmpty: boolean): Diagnosis | null {
  if (headers.has('content-encoding')) return wrong(what, 'a proxy compresses it, which delays events')
  if (headers.get('content-type')?.startsWith('text/event-stream') !== true || isEmpty)
    return wrong(what, 'the answer is not a stream')
  const caching = headers.get('cache-control') ?? ''
  if (!caching.includes('no-store') || Number(headers.get('age') ?? 0) > 0)
    return wrong(what, 'a proxy caches it or changes its Cache-Control: let it pass unchanged')
  return null
}
