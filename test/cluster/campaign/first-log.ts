import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeKeyFile } from '../../../src/command/operator/signing-key-file.ts'
import { run } from '../../stage/command-stage.ts'
import type { SendPayment } from '../../torture/history/contest-drafts.ts'
import { startFaultyNode } from '../../torture/history/faulty-node.ts'
import type { AuditFault, SentDraft, SentRequest } from '../../torture/history/history.ts'
import type { Writer } from './leader-faults.ts'

/** Name of the log of the campaigns. */
export const ORIGIN = 'daybook.test/cluster'
/** The first events are so old that their month is closed by the next one. */
const AGE_MS = 40 * 86_400_000
const DRAFTS = 20
/** Distinguishes its amounts from those of the publishers. */
const DECIMALS = '888888888'
const OUTPUT_CHARACTERS_MAX = 2_000

type Settings = Readonly<{
  folder: string
  data: string
  words: readonly string[]
  env: Readonly<Record<string, string>>
  /** Module that makes the clock wrong. */
  clock: string
  token: string
  pay: SendPayment
  url: string
}>

/** Publishes a log of its own with events of an earlier month and a held draft, and moves it onto the table. */
export async function moveFirstLog({
  folder,
  data,
  words,
  env,
  clock,
  token,
  pay,
  url,
}: Settings): Promise<Readonly<{ keyFile: string; before: readonly SentRequest[] }>> {
  const keyFile = join(folder, 'log.key')
  makeKeyFile(keyFile, '--signing-key-file')
  const clockOfFirst = join(folder, 'clock-of-first')
  writeFileSync(clockOfFirst, String(-AGE_MS))
  const own = ['--origin', ORIGIN, '--signing-key-file', keyFile]
  await using node = await startFaultyNode({
    name: 'first',
    kind: 'writer',
    data,
    words: [...words, ...own],
    env: {
      ...env,
      STEPPED_CLOCK: clockOfFirst,
      NODE_OPTIONS: `${env['NODE_OPTIONS'] ?? ''} --import=${clock}`,
    },
  })
  const before: SentRequest[] = []
  const publish = async (draft: SentDraft): Promise<void> => {
    const firstSentMs = performance.now()
    const answer = await fetch(`${node.node.publishUrl}/publish`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify([draft]),
    })
    const { drafts: receipts = [] } = (await answer.json()) as {
      drafts?: readonly Readonly<{ seq: number; status: string }>[]
    }
    assert.equal(answer.status, 200)
    const acks = receipts.flatMap(({ seq, status }) =>
      status === 'held' ? [] : [{ node: 'first', seqs: [seq], atMs: performance.now() }],
    )
    before.push({
      publisher: 'first',
      drafts: [draft],
      firstSentMs,
      acks,
      holds: acks.length === 0 ? ['first'] : [],
      refusals: [],
      expected: 'published',
      unknowns: 0,
    })
  }
  const draftOf = (number: number): SentDraft => ({
    ref: `first-${number}`,
    type: 'treasury',
    kind: 'deposit',
    kots: `${number}.${DECIMALS}`,
  })
  for (let number = 1; number < DRAFTS; number += 1) await publish(draftOf(number))
  await publish({ ...draftOf(DRAFTS), tx: pay('late') })
  assert.equal(await node.stop(), 0, node.node.said())

  const moved = ['cluster', 'move', '--data', data, '--signing-key-file', keyFile, '--log-store', url]
  const { code, stderr } = await run(moved)
  assert.equal(code, 0, stderr)
  return { keyFile, before }
}

/** Compares the table with the directory of each node. */
export async function auditTable(url: string, writers: readonly Writer[]): Promise<readonly AuditFault[]> {
  const faults: AuditFault[] = []
  for (const { faulty } of writers) {
    const { name, data } = faulty.node
    const own = ['--log-store', url, '--data', data]
    const { code, stdout, stderr } = await run(['cluster', 'check', ...own])
    const output = `${stdout}${stderr}`.slice(-OUTPUT_CHARACTERS_MAX)
    if (code !== 0) faults.push({ node: name, audit: 'cluster check', output })
  }
  return faults
}
