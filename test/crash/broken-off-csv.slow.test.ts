import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { after, before, suite, test } from 'node:test'
import { run } from '../stage/command-stage.ts'
import { change, flip } from '../story/damaged-log.ts'
import { type NodeProcess, startNode } from '../stage/node-process.ts'
import { MAIN } from '../stage/places.ts'
import { skipWithout } from '../processes/test-needs.ts'

/** Events whose CSV is larger than what the kernel and the pipe of a reader buffer. */
const EVENTS = 150_000
/** Exit code of curl for an answer that ends before its last chunk. */
const CURL_PARTIAL_FILE = 18

/** Words of the reason with which a service ends. */
const FOUND = `seq ${EVENTS - 1_000}: the event is not what was published`

type Stdout = Readonly<{ child: ChildProcess; stdout: Readable }>

/** A reader in a child process, which stops when its pipe is full. */
function startReader(command: string, ...words: readonly string[]): Stdout {
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'ignore'] })
  return { child, stdout: child.stdout }
}

const curl = (url: string): Stdout =>
  startReader('curl', '--silent', '--no-buffer', `${url}/api/v1/events?format=csv`)

const getEvents = (url: string): Stdout =>
  startReader(process.execPath, MAIN, 'get', 'events', url, '--format', 'csv')

/** Waits for the first rows, ends the service, then takes the rest. Returns the exit code of the reader and its text. */
async function breakOff(
  { child, stdout }: Stdout,
  end: () => Promise<unknown>,
): Promise<readonly [code: number | null, text: string]> {
  const chunks: Buffer[] = []
  // Node resumes the pipe of a child that exits, so both listeners stand before the service ends.
  const closed = once(child, 'close')
  stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(stdout, 'data')
  stdout.pause()
  await end()
  stdout.resume()
  await closed
  return [child.exitCode, Buffer.concat(chunks).toString('latin1')]
}

function assertPart(text: string): void {
  assert.match(text, /^seq,type,kind,/)
  assert.doesNotMatch(text, new RegExp(`\\n${EVENTS},trade`))
}

suite('a whole CSV whose service ends before it', { skip: skipWithout('curl') }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-broken-off-'))
  const data = join(folder, 'data')
  let node: NodeProcess

  before(async () => {
    const drafts = Array.from({ length: EVENTS }, (_, index) => {
      const at = new Date(Date.UTC(2026, 6, 1) + index * 10).toISOString()
      const tx = `transaction-${index}-`.padEnd(88, 'x')
      return JSON.stringify({ at, type: 'trade', kind: 'buy', kots: String(index), tx })
    })
    writeFileSync(join(folder, 'drafts.jsonl'), `${drafts.join('\n')}\n`)
    const { code, stderr } = await run([
      'import',
      join(folder, 'drafts.jsonl'),
      '--data',
      data,
      '--chain',
      'opaque',
      '--development',
    ])
    assert.equal(code, 0, stderr)
  })
  after(() => rmSync(folder, { recursive: true }))

  test('is a failed download after SIGTERM with a drain shorter than the file, and the service ends', async () => {
    node = await startNode(data, ['--drain', '1'])
    const [code, text] = await breakOff(curl(node.url), async () => {
      assert.deepEqual(await node.end('SIGTERM'), { code: 0, signal: null }, node.stderr())
    })
    assert.equal(code, CURL_PARTIAL_FILE)
    assertPart(text)
  })

  test('is a failed download after kill -9', async () => {
    node = await startNode(data)
    const [code, text] = await breakOff(curl(node.url), () => node.end('SIGKILL'))
    assert.equal(code, CURL_PARTIAL_FILE)
    assertPart(text)
  })

  test('ends get events with 1', async () => {
    node = await startNode(data)
    const [code, text] = await breakOff(getEvents(node.url), () => node.end('SIGKILL'))
    assert.equal(code, 1)
    assertPart(text)
  })

  test('is a failed download when the audit finds the log wrong, however long the drain', async () => {
    // A start does not look so far back, and the audit comes to it when the download has begun.
    change(data, (db) => flip(db, 'events', 'line', `seq = ${EVENTS - 1_000}`))
    node = await startNode(data, ['--drain', '60'])
    const ended = once(node.child, 'close')
    const [code, text] = await breakOff(curl(node.url), async () => {
      while (!node.stderr().includes(FOUND)) await once(node.child.stderr ?? node.child, 'data')
    })
    assert.equal(code, CURL_PARTIAL_FILE)
    assertPart(text)
    await ended
    assert.equal(node.child.exitCode, 1)
  })
})
