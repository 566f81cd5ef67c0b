import type { Ask } from './ask.ts'
import { unexpected } from './daybook-error.ts'
import { endpointPath } from './endpoint-query.ts'
import type { Time } from '../protocol/parameters.ts'
import type { SameLog } from './event-pages.ts'

type Start = Readonly<{
  after: number
  from: Time
  signal?: AbortSignal | undefined
  attemptsMax?: number
}>

/** Cursor at the `head`, or before the first event that is after a seq and not before a moment. */
export async function startCursor(
  { get }: Pick<Ask, 'get'>,
  { after, from, ...options }: Start,
  sameLog: SameLog,
): Promise<number> {
  const isHead = from === 'head'
  const path = isHead ? endpointPath('status', '') : endpointPath('events', '', { after, from, limit: 1 })
  const { headers, json } = await get(path, options)
  sameLog(headers)
  const body = json()
  const seq = isHead ? body?.asOf?.seq : body?.page?.after
  if (!Number.isSafeInteger(seq)) throw unexpected('the answer names no seq')
  return seq
}
