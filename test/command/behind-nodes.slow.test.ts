import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { monthOf } from '../../src/protocol/moment.ts'
import { RICH_LOG } from '../stage/audit-stage.ts'
import { run } from '../stage/command-stage.ts'
import { answerOfNode } from '../story/node-answers.ts'
import { publicLog } from '../story/public-log.ts'

const API = '/api/v1/'
const size = RICH_LOG.findLastIndex(({ details }) => details !== null) + 1
const ahead = publicLog(RICH_LOG.slice(0, size))
const behind = publicLog(RICH_LOG.slice(0, size - 1), ahead.key, ahead.now)
const month = monthOf(RICH_LOG[size - 1]?.event.atMs ?? assert.fail())

/** A service of two nodes. `isBehind` says which of them gives the answer number `count`, from 1, at a path. */
async function serviceOf(
  isBehind: (path: string, count: number) => boolean,
  nodes = { ahead, behind },
): Promise<Readonly<{ url: string }> & AsyncDisposable> {
  const counts = new Map<string, number>()
  const server = createServer((request, response) => {
    const path = (request.url ?? '').slice(API.length)
    const count = (counts.get(path) ?? 0) + 1
    counts.set(path, count)
    const answer = answerOfNode(isBehind(path, count) ? nodes.behind : nodes.ahead, path)
    void answer.arrayBuffer().then((body) => {
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(body))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

suite('a service of which one node lacks the last event', { concurrency: true }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-behind-'))
  after(() => rmSync(folder, { recursive: true }))
  const FILES = [`archive/${month}.jsonl.gz`, `archive/${month}.details.jsonl.gz`]
  const key = ['--key', ahead.key.vkey]

  for (const [index, late] of ['log/checkpoint', 'archive', ...FILES].entries()) {
    test(`gives pull a copy that verify accepts, though ${late} comes from that node at first`, async () => {
      await using service = await serviceOf((path, count) => path === late && count === 1)
      const to = join(folder, String(index))
      const pulled = await run(['pull', service.url, '--to', to])
      assert.equal(pulled.code, 0, pulled.stderr)
      const verified = await run(['verify', to, ...key])
      assert.equal(verified.code, 0, verified.stdout)
    })
  }

  test('gives pull a copy that verify accepts, though that node has not closed the last month', async () => {
    const last = RICH_LOG.findLastIndex(
      ({ event }, at) =>
        at > 0 && monthOf(RICH_LOG[at - 1]?.event.atMs ?? event.atMs) !== monthOf(event.atMs),
    )
    const next = publicLog(RICH_LOG.slice(0, last + 1), ahead.key)
    const nodes = { ahead: next, behind: publicLog(RICH_LOG.slice(0, last), ahead.key, next.now) }
    await using service = await serviceOf((path, count) => path.startsWith('archive') && count === 1, nodes)
    const to = join(folder, 'closed')
    const pulled = await run(['pull', service.url, '--to', to])
    assert.equal(pulled.code, 0, pulled.stderr)
    const verified = await run(['verify', to, ...key])
    assert.equal(verified.code, 0, verified.stdout)
  })

  test('ends pull with a sentence that blames no log when that node stays behind', async () => {
    await using service = await serviceOf((path) => path === FILES[1])
    const { code, stderr } = await run(['pull', service.url, '--to', join(folder, 'late')])
    assert.equal(code, 1)
    assert.match(
      stderr,
      new RegExp(
        `^daybook: the node that answered is behind: .*${FILES[1]} ends with seq ${size - 1}, `,
        'm',
      ),
    )
  })

  test('gives export every event, though the last page comes from that node at first', async () => {
    let pages = 0
    await using service = await serviceOf((path) => path.startsWith('events') && ++pages === 1)
    const { code, stdout, stderr } = await run(['export', service.url])
    assert.equal(code, 0, stderr)
    assert.equal(stdout.split('\n').length - 1, size)
  })

  test('gives export every event before a moment, though that node looks the moment up at first', async () => {
    let looks = 0
    await using service = await serviceOf((path) => path.startsWith('events?from') && ++looks === 1)
    const to = new Date((RICH_LOG[size - 1]?.event.atMs ?? 0) + 1).toISOString()
    const { code, stdout, stderr } = await run(['export', service.url, '--to', to])
    assert.equal(code, 0, stderr)
    assert.equal(stdout.split('\n').length - 1, size)
    assert.equal(looks, 2)
  })

  test('gives tail the last events of the log, though the page comes from that node at first', async () => {
    let pages = 0
    await using service = await serviceOf((path) => path.startsWith('events') && ++pages === 1)
    const { code, stdout, stderr } = await run(['tail', service.url, '-n', '3', '--no-follow'])
    assert.equal(code, 0, stderr)
    const shown = stdout
      .trim()
      .split('\n')
      .map((line) => Number(Object(JSON.parse(line)).seq))
    assert.deepEqual(shown, [size - 2, size - 1, size])
    assert.equal(pages, 2)
  })

  test('ends tail with a sentence that blames no log when that node stays behind', async () => {
    await using service = await serviceOf((path) => path.startsWith('events'))
    const { code, stdout, stderr } = await run(['tail', service.url, '-n', '3', '--no-follow'])
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^daybook: the node that answered is behind: /m)
  })

  test('ends export with a sentence that blames no log when that node stays behind', async () => {
    await using service = await serviceOf((path) => path.startsWith('events'))
    const { code, stderr } = await run(['export', service.url])
    assert.equal(code, 1)
    assert.match(stderr, /^daybook: the node that answered is behind: /m)
    assert.match(stderr, new RegExp(`^incomplete: the output ends after seq ${size - 1}$`, 'm'))
  })
})
