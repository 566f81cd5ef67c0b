import { DaybookError } from '../../client/daybook-error.ts'
import { openAsk } from '../../client/ask.ts'
import { readBytes } from '../../client/body.ts'
import { SURROUNDINGS } from '../../client/surroundings.ts'
import { type Ms, MS_MAX, msOf, parseMonth } from '../../protocol/moment.ts'
import { areWitnesses, majorityOf, WITNESSES_MAX, witnessNames } from '../../tlog/quorum.ts'
import { RECEIPT_BYTES_MAX } from '../../tlog/receipt.ts'
import { formatHex, formatUtf8, parseVkey } from '../../tlog/note.ts'
import { type Audit, audit, type AuditSettings, type ChainCheck, inspect } from '../../verify/audit.ts'
import type { LogPart } from '../../verify/parts.ts'
import { openLiveSource } from '../../verify/reading/live-source.ts'
import type { Primitives } from '../../verify/reading/primitives.ts'
import type { Source } from '../../verify/reading/source.ts'
import { isVerified } from '../../verify/report.ts'
import { openPrimitives } from './browser-primitives.ts'
import type { ChosenWitnesses } from '../../verify/witnesses.ts'

/** Log that this browser has verified before: its address, the day, its signed note and its keys. */
export type SeenLog = Readonly<{
  origin: string
  address: string
  date: string
  note: string
  vkeys: readonly string[]
}>

/** Request of a form to the worker: the texts of its fields, the chosen file, and the earlier visits. */
export type CheckRequest = Readonly<{
  fields: Readonly<Partial<Record<string, string>>>
  file: Blob | null
  visits: readonly SeenLog[]
}>

/** Message of the worker: progress, then a result or the reason why there is none. */
export type CheckReply =
  | Readonly<{ is: 'progress'; stage: 'asking' | 'reading' | 'chain'; done: number; total: number }>
  | Readonly<{ is: 'done'; audit: Audit; isVerified: boolean; tx: string | null; visit: SeenLog | null }>
  | Readonly<{ is: 'stopped'; why: string }>

/**
 * Opens the check against a blockchain with the reader's input; null when no server is named. An option provides it.
 */
export type OpenChain = (
  field: (name: string) => string,
  source: Source,
  primitives: Primitives,
  now: () => Ms,
) => Promise<ChainCheck | null>

/** Answers the requests of the page that started this worker. */
export function startVerifier(openChain: OpenChain | null): void {
  addEventListener('message', ({ data }: MessageEvent<CheckRequest>) => {
    run(data, openChain).then(reply, (error: unknown) => {
      // Only an unusable field or an unreadable log stops a check. False answers are findings of the result.
      reply({
        is: 'stopped',
        why: error instanceof DaybookError ? error.message : `the check broke off: ${String(error)}`,
      })
    })
  })
}

function reply(message: CheckReply): void {
  postMessage(message)
}

async function run({ fields, file, visits }: CheckRequest, openChain: OpenChain | null): Promise<CheckReply> {
  const field = (name: string): string => fields[name]?.trim() ?? ''
  const primitives = await openPrimitives()
  const address = field('base').replace(/\/+$/, '')
  const vkey = field('vkey')
  if (vkey !== '' && parseVkey(primitives.sha256, vkey) === undefined)
    throw new DaybookError('refused', 'the key that you gave is no key of a log')
  const { signal } = new AbortController()
  const now = (): Ms => msOf(Math.min(Date.now(), MS_MAX))
  const source = openSource(address, signal)
  const settings: AuditSettings = {
    source,
    primitives,
    own: {
      given: vkey === '' ? [] : [vkey],
      keptOf: (origin) => visits.find((visit) => visit.origin === origin)?.vkeys ?? [],
    },
    saved: visits.map(({ address: at, date, note }) => ({
      name: `your visit on ${date}`,
      note: formatUtf8(note),
      named: at === address,
    })),
    chain: (await openChain?.(field, source, primitives, now)) ?? null,
    witnesses: witnessesIn(field('witnesses'), field('quorum'), primitives),
    chance: SURROUNDINGS.random,
    now,
    signal,
    onProgress: (stage, done, total) => reply({ is: 'progress', stage, done, total }),
  }
  const part = await partIn(field, file, primitives)
  const found = part === null ? { ...(await audit(settings)), entry: null } : await inspect(settings, part)
  const { entry, ...result } = found
  const newest = result.keep?.notes.at(-1)?.note
  return {
    is: 'done',
    audit: result,
    isVerified: isVerified(result),
    tx: entry?.event.tx ?? null,
    visit:
      result.keep === null
        ? null
        : {
            origin: result.keep.origin,
            address,
            date: new Date().toISOString().slice(0, 10),
            note: new TextDecoder().decode(newest),
            vkeys: result.keep.vkeys,
          },
  }
}

/** Service at an address. Requests go only to that host, and no answer comes from the browser's cache. */
function openSource(base: string, signal: AbortSignal): Source {
  if (!/^https?:\/\/[^/]+$/.test(base))
    throw new DaybookError('refused', 'the address of the log is no http or https origin')
  const ask = openAsk({
    base,
    fetch: (url, init) => fetch(url, { ...init, cache: 'no-store', redirect: 'error' }),
  })
  return openLiveSource(ask, SURROUNDINGS.sleep, signal)
}

/** The chosen part of the log; null for all of it. */
async function partIn(
  field: (name: string) => string,
  file: Blob | null,
  primitives: Primitives,
): Promise<LogPart | null> {
  switch (field('subject')) {
    case 'event':
      return { is: 'event', seq: Number(field('seq')) }
    case 'month': {
      const month = parseMonth(field('month'))
      if (month === undefined) throw new DaybookError('refused', 'a month has the form yyyy-mm')
      return { is: 'month', month }
    }
    case 'file': {
      if (file === null) throw new DaybookError('refused', 'no file is chosen')
      return await partOfFile(file, primitives)
    }
    case 'growth':
      return { is: 'growth' }
    default:
      return null
  }
}

const PROOF = /^c2sp\.org\/tlog-proof@/

/**
 * Part of a chosen file: a saved proof, if the first line says so, otherwise a file of a loyalty run. The file does not
 * leave the browser.
 */
async function partOfFile(file: Blob, { openSha256 }: Primitives): Promise<LogPart> {
  const start = file.slice(0, RECEIPT_BYTES_MAX + 1)
  if (PROOF.test(await start.slice(0, 32).text()))
    return { is: 'proof', bytes: await readBytes(start.stream(), RECEIPT_BYTES_MAX + 1) }
  const running = openSha256()
  const reader = file.stream().getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) running.update(read.value)
  return { is: 'file', digest: `sha256:${formatHex(running.digest())}` }
}

/** Witnesses whose keys the reader gave; null without any. They are not asked directly. */
function witnessesIn(typed: string, quorum: string, { sha256 }: Primitives): ChosenWitnesses | null {
  const vkeys = typed.split(/\s+/).filter((vkey) => vkey !== '')
  if (vkeys.length === 0) return null
  if (vkeys.length > WITNESSES_MAX)
    throw new DaybookError('refused', `give at most ${WITNESSES_MAX} keys of witnesses`)
  const keys = vkeys.map((vkey, index) => {
    const key = parseVkey(sha256, vkey)
    if (key === undefined || key.type === 'ed25519')
      throw new DaybookError('refused', `key ${index + 1} of those that you gave is no key of a witness`)
    return key
  })
  if (!areWitnesses(keys))
    throw new DaybookError('refused', 'two of the keys that you gave are the same public key')
  const names = witnessNames(keys).length
  const least = quorum === '' ? majorityOf(keys) : Number(quorum)
  if (!(Number.isSafeInteger(least) && least >= 1 && least <= names))
    throw new DaybookError(
      'refused',
      `the number that must vouch is from 1 to ${names}, the number of witnesses`,
    )
  return { keys, quorum: least, asked: [], ask: async () => ({ is: 'none' }) }
}
