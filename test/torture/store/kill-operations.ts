import { copyFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultKeyFile } from '../../../src/command/operator/signing-key-file.ts'
import { openForReading, storePath } from '../../../src/log/store/store.ts'
import { readyLog } from '../../../src/log/tree/ready-log.ts'
import { readKeys } from '../../../src/log/tree/signing-keys.ts'
import { unpackKept } from '../../books/kept-store.ts'
import { MAIN } from '../../stage/places.ts'
import { makeLog, NEW_LOG, publishUpTo, runBackup, writeKey } from '../../story/damaged-log.ts'
import { OTHER_KEY, TEST_KEY } from '../../story/signing.ts'
import { drivenCommand, programEnv } from './driven-run.ts'
import type { ShimWish } from './io-shim.ts'

/** A change of a store that is killed at each of its steps. */
export type KilledOperation = Readonly<{
  name: string
  /** Makes the state before it in an empty folder. The log is in `data`. */
  prepare(root: string): Promise<void> | void
  /** Command that does it, and with which it is repeated. Files of the run itself go to `scratch`. */
  command(root: string, scratch: string, wish: ShimWish | null): readonly string[]
  /** Counts only what happens from the first publish request to the last answer. */
  whilePublishing: boolean
  /** Events after it. */
  events: number
  /** Part of the state after it that a killed and repeated run must leave too, beside the events and months. */
  outcome?(root: string): unknown
  /** Report of a repetition after an operation that was already done: it may end with another code than 0. */
  done?: RegExp
  /** Names of files that only a repetition after a finished operation leaves. */
  left?: RegExp
}>

const OLD_EVENTS = 60
const DRAFTS = 12
const TX = '4bbxGYQfdi8vinDZbvD1kBWu94Ddr2zFDX8Jh6BerD9sUMdgCJydgLpgCuWf39ohHrJmDejZj9cxFJF4ndKinwrE'

const dataOf = (root: string): string => join(root, 'data')

function cli(...words: readonly string[]) {
  return (root: string, _scratch: string, wish: ShimWish | null): readonly string[] => {
    const placed = words.map((word) => word.replace('ROOT', root))
    return [...programEnv(wish), process.execPath, MAIN, ...placed]
  }
}

/** A service that publishes the requests and stops. */
function published(requests: readonly (readonly object[])[], ...options: readonly string[]) {
  return (root: string, scratch: string, wish: ShimWish | null): readonly string[] => {
    const driven = { data: dataOf(root), requests, publishing: join(scratch, 'publishing') }
    const placed = options.map((option) => option.replaceAll('ROOT', root))
    return drivenCommand(scratch, driven, wish, placed).command
  }
}

/** The listed signing keys: which tree each signs first and last. Statements are signed again by a repetition. */
function keysOf(root: string): unknown {
  const db = openForReading(storePath(dataOf(root)))
  try {
    return readKeys(db).map(({ vkey, fromSize, toSize }) => ({ vkey, fromSize, toSize }))
  } finally {
    db.close()
  }
}

const trade = (ref: string, more: object = {}): object => ({
  ref,
  type: 'trade',
  kind: 'buy',
  kots: '1',
  ...more,
})
const oldLog = (root: string): void => makeLog(dataOf(root), [5, OLD_EVENTS])

/** A log whose open month is this one, so that a commit ends none. */
function presentLog(root: string): void {
  makeLog(dataOf(root), [])
}

async function backedUpLog(root: string): Promise<void> {
  oldLog(root)
  const { code, said } = await runBackup(dataOf(root), `${join(root, 'backups')}/`)
  if (code !== 0) throw new Error(said)
}

const COMMITS: readonly KilledOperation[] = [
  {
    name: 'a commit of one draft',
    prepare: presentLog,
    command: published([[trade('a')]]),
    whilePublishing: true,
    events: 1,
  },
  {
    name: 'a commit of a batch',
    prepare: presentLog,
    command: published([Array.from({ length: DRAFTS }, (_, index) => trade(`a${index}`))]),
    whilePublishing: true,
    events: DRAFTS,
  },
  {
    name: 'a commit of a correction',
    prepare: presentLog,
    command: published([
      [{ ref: 'a', type: 'treasury', kind: 'deposit', kots: '5' }],
      [{ ref: 'b', type: 'correction', kind: 'treasury', kots: '-5', details: { corrects: 1 } }],
    ]),
    whilePublishing: true,
    events: 2,
  },
  {
    name: 'a commit of held drafts',
    prepare: (root) => makeLog(dataOf(root), [], { ...NEW_LOG, chain: 'solana' }),
    command: published(
      [[trade('a'), trade('b', { tx: TX })]],
      '--chain',
      'solana',
      '--finality',
      'solana=http://127.0.0.1:9',
    ),
    whilePublishing: true,
    events: 1,
  },
  {
    name: 'the close of a month',
    prepare: oldLog,
    command: published([[trade('a')]]),
    whilePublishing: true,
    events: OLD_EVENTS + 1,
  },
]

/** All operations that are killed. */
export const KILLED_OPERATIONS: readonly KilledOperation[] = [
  ...COMMITS,
  {
    name: 'the start of a new log',
    prepare: () => undefined,
    command: published([]),
    whilePublishing: false,
    events: 0,
  },
  {
    name: 'an import',
    prepare(root) {
      const drafts = Array.from({ length: DRAFTS }, (_, index) => {
        const at = `2026-0${index < DRAFTS / 2 ? 1 : 2}-${10 + index}T00:00:00Z`
        return `${JSON.stringify(trade(`i${index}`, { at }))}\n`
      })
      writeFileSync(join(root, 'drafts.jsonl'), drafts.join(''))
    },
    command: cli('import', 'ROOT/drafts.jsonl', '--data', 'ROOT/data', '--chain', 'opaque', '--development'),
    whilePublishing: false,
    events: DRAFTS,
  },
  {
    name: 'a backup',
    prepare: oldLog,
    command: cli('backup', '--data', 'ROOT/data', '--to', 'ROOT/backups/'),
    whilePublishing: false,
    events: OLD_EVENTS,
  },
  {
    name: 'a restore',
    async prepare(root) {
      await backedUpLog(root)
      rmSync(storePath(dataOf(root)))
    },
    command: cli('restore', '--data', 'ROOT/data', '--from', 'ROOT/backups'),
    whilePublishing: false,
    events: OLD_EVENTS,
    // A kill after the last change leaves a restored store, which the repetition replaces and keeps.
    left: /^data\/daybook\.db\.replaced-#$/,
  },
  {
    name: 'a restore over a store',
    prepare: backedUpLog,
    command: cli('restore', '--data', 'ROOT/data', '--from', 'ROOT/backups'),
    whilePublishing: false,
    events: OLD_EVENTS,
  },
  {
    name: 'an upgrade',
    prepare(root) {
      using kept = unpackKept(12)
      cpSync(kept.data, dataOf(root), { recursive: true })
      copyFileSync(defaultKeyFile(kept.data), defaultKeyFile(dataOf(root)))
    },
    command: cli('upgrade', '--data', 'ROOT/data'),
    whilePublishing: false,
    events: -1,
  },
  {
    name: 'a new log after a loss',
    prepare(root) {
      const data = dataOf(root)
      makeLog(data, [5])
      const older = readFileSync(storePath(data))
      publishUpTo(data, [10])
      writeFileSync(storePath(data), older)
    },
    command: published([], '--accept-loss'),
    whilePublishing: false,
    events: 5,
    done: /has lost nothing/,
  },
  {
    name: 'a second signing key',
    prepare(root) {
      oldLog(root)
      writeKey(join(root, 'next.key'), OTHER_KEY)
    },
    command: published([], '--signing-key-file', 'ROOT/data.key,ROOT/next.key'),
    whilePublishing: false,
    events: OLD_EVENTS,
    outcome: keysOf,
  },
  {
    name: 'the drop of the old signing key',
    prepare(root) {
      oldLog(root)
      writeKey(join(root, 'next.key'), OTHER_KEY)
      const both = { keys: [TEST_KEY, OTHER_KEY], acceptNewKey: false, acceptLoss: false }
      readyLog(dataOf(root), NEW_LOG, both)
      publishUpTo(dataOf(root), [OLD_EVENTS + 2], both.keys)
    },
    command: published([[trade('a')]], '--signing-key-file', 'ROOT/next.key'),
    whilePublishing: false,
    events: OLD_EVENTS + 3,
    outcome: keysOf,
  },
]
