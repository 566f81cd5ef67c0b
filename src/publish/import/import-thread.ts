import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { assert } from '../../protocol/brand.ts'
import type { Draft } from '../../protocol/draft.ts'
import type { Chain } from '../../protocol/tx.ts'
import { DRAFT_DIGEST_BYTES, draftDigest, parseDraft } from '../admission/grammar.ts'
import { readLines } from './import-lines.ts'
import { parseLine } from '../admission/draft-json.ts'

/** Start-up settings of the parser's thread. */
export type ParserSettings = Readonly<{ files: readonly string[]; chain: Chain }>

/** Refusal of an import, with the file, line and field at fault if known. It never repeats the input. */
export type ImportRefusal = Readonly<{
  ok: false
  file: string
  line: number | null
  field: string | null
  reason: string
}>

/**
 * Drafts of one file, in order. They are sent as objects: a structured clone costs the receiver 0.4 µs a draft. Columns
 * would cost 0.1 µs, but appending costs 12 µs.
 */
export type DraftBatch = Readonly<{
  is: 'drafts'
  file: string
  drafts: readonly Draft[]
  /** The line of each draft, from 1. */
  lines: readonly number[]
  /** The digests of the drafts, joined. */
  digests: Uint8Array
  /** Bytes of all files read so far. */
  bytes: number
}>

/** Messages of the parser's thread to the importer. */
export type FromParser =
  | DraftBatch
  | Readonly<{ is: 'refused'; refusal: ImportRefusal }>
  | Readonly<{ is: 'end' }>

/** Most batches that are sent and not yet received. Limits the memory between the two threads. */
const BATCHES_IN_FLIGHT = 4

/** Most drafts of a batch, and most characters of their lines. */
const BATCH_DRAFTS = 1_000
const BATCH_CHARS = 1024 * 1024

/** Collects drafts of one file for the next message. */
type BatchBuilder = Readonly<{
  add(draft: Draft, line: number, chars: number): void
  isFull(): boolean
  send(): Promise<void>
}>

/** Runs the parser's thread, which reads the files, parses the drafts, and sends them in batches. */
async function run(port: MessagePort, { files, chain }: ParserSettings): Promise<void> {
  const send = openSend(port)
  let bytes = 0
  const count = (more: number): void => void (bytes += more)

  function openBatch(file: string): BatchBuilder {
    let drafts: Draft[] = []
    let lines: number[] = []
    let chars = 0
    return {
      add(draft, line, more) {
        drafts.push(draft)
        lines.push(line)
        chars += more
      },
      isFull: () => drafts.length >= BATCH_DRAFTS || chars >= BATCH_CHARS,
      async send() {
        if (drafts.length === 0) return
        await send({ is: 'drafts', file, drafts, lines, digests: digestsOf(drafts), bytes })
        drafts = []
        lines = []
        chars = 0
      },
    }
  }

  /**
   * Parses a file up to its end or its first fault. Sends the drafts before a fault first, because they may be refused
   * too.
   */
  async function parseFile(file: string): Promise<ImportRefusal | null> {
    const batch = openBatch(file)
    const refused = async (line: number, field: string | null, reason: string): Promise<ImportRefusal> => {
      await batch.send()
      return { ok: false, file, line, field, reason }
    }
    for await (const block of readLines(file, count)) {
      if ('reason' in block) return refused(block.line, null, block.reason)
      for (const [index, text] of block.lines.entries()) {
        if (isBlank(text)) continue
        const line = block.first + index
        const json = parseLine(text)
        if (!json.ok) return refused(line, 'draft', json.reason)
        const parsed = parseDraft(json.value, { chain, mode: 'import' })
        if (!parsed.ok) return refused(line, parsed.field, parsed.reason)
        batch.add(parsed.draft, line, text.length)
        if (batch.isFull()) await batch.send()
      }
    }
    await batch.send()
    return null
  }

  for (const file of files) {
    const refusal = await parseFile(file)
    if (refusal !== null) return send({ is: 'refused', refusal })
  }
  return send({ is: 'end' })
}

/** Opens the sender of messages. It waits while too many are unreceived. */
function openSend(port: MessagePort): (message: FromParser) => Promise<void> {
  let free = BATCHES_IN_FLIGHT
  let wake: (() => void) | null = null
  port.on('message', () => {
    free++
    wake?.()
  })
  return async (message) => {
    if (free === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      wake = null
    }
    free--
    port.postMessage(message)
  }
}

function digestsOf(drafts: readonly Draft[]): Uint8Array {
  const digests = new Uint8Array(drafts.length * DRAFT_DIGEST_BYTES)
  for (const [index, draft] of drafts.entries()) {
    if (draft.ref !== null) digests.set(draftDigest(draft), index * DRAFT_DIGEST_BYTES)
  }
  return digests
}

function isBlank(text: string): boolean {
  return !text.startsWith('{') && text.trim() === ''
}

assert(parentPort !== null, 'the parser runs in a thread of its own')
const settings: ParserSettings = workerData
await run(parentPort, settings)
parentPort.close()
