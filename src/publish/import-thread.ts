import type { MessagePort } from 'node:worker_threads'
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '../protocol/brand.ts'
import type { Draft } from '../protocol/draft.ts'
import { DRAFT_DIGEST_BYTES, draftDigest, parseDraft } from './grammar.ts'
import { readLines } from './import-lines.ts'
import type { FromParser, ImportRefusal, ParserSettings } from './import-messages.ts'
import { BATCHES_IN_FLIGHT } from './import-messages.ts'
import { parseLine } from './json.ts'

/** Drafts of one batch, and the characters of their lines, at most. */
const BATCH_DRAFTS = 1_000
const BATCH_CHARS = 1024 * 1024

type Parser = Readonly<{ line(text: string, number: number): ImportRefusal | null; flush(): Promise<void> }>

/** The parser's thread: reads the files, and hands over what the grammar lets through, a batch at a time. */
async function run(port: MessagePort, { files, chain }: ParserSettings): Promise<void> {
  const send = openSend(port)
  let bytes = 0
  const count = (more: number): void => void (bytes += more)

  function openParser(file: string): Parser & Readonly<{ isFull(): boolean }> {
    let drafts: Draft[] = []
    let lines: number[] = []
    let chars = 0
    return {
      isFull: () => drafts.length >= BATCH_DRAFTS || chars >= BATCH_CHARS,
      line(text, number) {
        const refused = (field: string, reason: string): ImportRefusal => ({
          ok: false,
          file,
          line: number,
          field,
          reason,
        })
        const json = parseLine(text)
        if (!json.ok) return refused('draft', json.reason)
        const parsed = parseDraft(json.value, { chain, mode: 'import' })
        if (!parsed.ok) return refused(parsed.field, parsed.reason)
        drafts.push(parsed.draft)
        lines.push(number)
        chars += text.length
        return null
      },
      async flush() {
        if (drafts.length === 0) return
        await send({ is: 'drafts', file, drafts, lines, digests: digestsOf(drafts), bytes })
        drafts = []
        lines = []
        chars = 0
      },
    }
  }

  /** One file to its end, or to what is wrong with it. What comes before that is sent first, and judged first. */
  async function parseFile(file: string): Promise<ImportRefusal | null> {
    const parser = openParser(file)
    for await (const block of readLines(file, count)) {
      if ('reason' in block) {
        await parser.flush()
        return { ok: false, file, line: block.line, field: null, reason: block.reason }
      }
      for (const [index, text] of block.lines.entries()) {
        if (isBlank(text)) continue
        const refusal = parser.line(text, block.first + index)
        if (refusal !== null || parser.isFull()) await parser.flush()
        if (refusal !== null) return refusal
      }
    }
    await parser.flush()
    return null
  }

  for (const file of files) {
    const refusal = await parseFile(file)
    if (refusal !== null) return send({ is: 'refused', refusal })
  }
  return send({ is: 'end' })
}

/** Sends one message after the other, and waits while too many have not been taken. */
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
