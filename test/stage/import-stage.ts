import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openReader } from '../../src/log/open-reader.ts'
import {
  importFiles,
  type ImportRefusal,
  type ImportReport,
  type ImportSettings,
} from '../../src/publish/import/import.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { seqOf } from '../../src/protocol/seq.ts'
import { TEST_KEY } from '../story/signing.ts'

/** A line of an import file, right or wrong. */
export type Line = Readonly<Record<string, unknown>>

/** Value of the clock in all imports. */
export const NOW_MS: number = Date.UTC(2026, 5, 1)

/** A folder with files to import and a data directory. */
export type ImportStage = Readonly<{
  data: string
  /** Writes a file into the folder and returns its path. */
  file(name: string, content: string | Uint8Array): string
  import(files: readonly string[], settings?: Partial<ImportSettings>): Promise<ImportReport | ImportRefusal>
  /** Imports the lines, which must be valid. */
  begin(lines: readonly Line[]): Promise<void>
  /** Names and digests of the files in the data directory. */
  contents(): Readonly<Record<string, string>>
  /** Lines of the log, from a reader. */
  lines(): readonly string[]
}> &
  AsyncDisposable

export async function openImportStage(): Promise<ImportStage> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-import-'))
  const data = join(folder, 'data')
  const stage: ImportStage = {
    data,
    file(name, content) {
      writeFileSync(join(folder, name), content)
      return join(folder, name)
    },
    import: (files, settings) => importFiles({ ...settingsOf(files, data), ...settings }),
    async begin(lines) {
      const outcome = await stage.import([stage.file('begin.jsonl', jsonl(lines))])
      if (!outcome.ok) throw new Error(`line ${outcome.line}, ${outcome.field}: ${outcome.reason}`)
    },
    contents: () => contentsOf(data),
    lines: () => linesOf(data),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
  return stage
}

export function settingsOf(files: readonly string[], dataDirectory: string): ImportSettings {
  return {
    files,
    dataDirectory,
    newLog: { origin: 'daybook.example/log', chain: 'opaque', simulated: false },
    keys: [TEST_KEY],
    balances: 'refuse',
    now: msOf(NOW_MS),
    monotonicMs: () => performance.now(),
    onProgress: () => undefined,
    signal: new AbortController().signal,
  }
}

export function jsonl(lines: readonly Line[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** Four valid drafts of the first minute of 2026: a deposit, and a contest that is running. */
export function opening(): readonly Line[] {
  const at = '2026-01-01T00:00:00.000Z'
  const details = { opensAt: at, closesAt: '2026-02-01T00:00:00.000Z' }
  return [
    { ref: 'a1', at, type: 'treasury', kind: 'deposit', kots: '100' },
    { ref: 'a2', at, type: 'contest', kind: 'scheduled', contestId: 1, details },
    { ref: 'a3', at, type: 'contest', kind: 'opened', contestId: 1 },
    { ref: 'a4', at, type: 'play', kind: 'entry', contestId: 1, kots: '1.5' },
  ]
}

/** `count` plays of that contest, a second apart; `from` is the number of the first. */
export function plays(count: number, from = 1): readonly Line[] {
  return Array.from({ length: count }, (_, index) => ({
    ref: `p${from + index}`,
    at: new Date(Date.UTC(2026, 0, 2) + (from + index) * 1000).toISOString(),
    type: 'play',
    kind: 'vote',
    contestId: 1,
    kots: `${from + index}.25`,
  }))
}

function contentsOf(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readdirSync(folder)
      .toSorted()
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex'),
      ]),
  )
}

function linesOf(data: string): readonly string[] {
  const reader = openReader(data, null)
  try {
    return reader.snapshot(({ head, line }) =>
      Array.from({ length: head.seq }, (_, index) => Buffer.from(line(seqOf(index + 1)) ?? []).toString()),
    )
  } finally {
    reader.close()
  }
}
