import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, suite, test } from 'node:test'
import { sendOnce, openAddressChoice } from '../../src/command/publish/publish-client.ts'
import { run, startProxy, contextOf } from '../stage/command-stage.ts'
import type { Service } from '../stage/service.ts'
import { startImportedNode } from '../sample/imported-node.ts'

/** Nothing listens on the discard port. */
const AWAY = 'http://127.0.0.1:9'
const folder = mkdtempSync(join(tmpdir(), 'daybook-fallback-'))
const tokenFile = join(folder, 'token')
let service: Service | undefined
let other: Service | undefined

before(async () => {
  service = await startImportedNode({ chain: 'opaque' })
  other = await startImportedNode({ chain: 'opaque' })
  writeFileSync(tokenFile, service.token)
})
after(async () => {
  await Promise.all([service?.[Symbol.asyncDispose](), other?.[Symbol.asyncDispose]()])
  rmSync(folder, { recursive: true })
})

/** The service, or the one of another log. */
const own = (): Service => service ?? assert.fail('the service runs')
const foreign = (): Service => other ?? assert.fail('the other service runs')

/** Writes a file of deposits, each of its own amount, from `first` on. */
function fileOf(first: number, count: number): string {
  const file = join(folder, `from-${first}.jsonl`)
  const drafts = Array.from(
    { length: count },
    (_, index) =>
      `{"ref":"fallback-${first + index}","type":"treasury","kind":"deposit","kots":"${first + index}"}\n`,
  )
  writeFileSync(file, drafts.join(''))
  return file
}

async function amounts({ url }: Service, from: number, count: number): Promise<readonly number[]> {
  const answer = await fetch(`${url}/api/v1/events?limit=10000`)
  const { events } = (await answer.json()) as { events: readonly { kots: string }[] }
  return events.map(({ kots }) => Number(kots)).filter((kots) => kots >= from && kots < from + count)
}

const counted = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => first + index)

const publish = (file: string, ...publishUrls: readonly string[]): ReturnType<typeof run> =>
  run(['publish', file, '--to', publishUrls.join(','), '--token-file', tokenFile])

suite('a publisher with fallbacks', () => {
  test('sends to the next publish API when the first cannot be reached, and says which', async () => {
    const { code, stderr } = await publish(fileOf(1, 3), AWAY, own().publishUrl)
    assert.equal(code, 0, stderr)
    const { host } = new URL(own().publishUrl)
    assert.ok(stderr.includes(`using the publish API at ${host} now: the publish API at 127.0.0.1:9`))
    assert.deepEqual(await amounts(own(), 1, 3), [1, 2, 3])
  })

  for (const [lost, cutAfter, first] of [
    ['is lost', 0, 10_000],
    ['breaks off', 1, 40_000],
  ] as const) {
    test(`keeps the order and doubles nothing when the answer to a published request ${lost}`, async () => {
      let posts = 0
      let looks = 0
      // The second of three requests is published. The first bytes of its answer are sent before the connection ends.
      const isSent = (): boolean => ++looks > cutAfter
      await using lossy = await startProxy(own().publishUrl, (path) => {
        if (path !== '/publish') return 'none'
        posts += 1
        return posts === 2 ? { cutAfter, once: isSent } : 'none'
      })
      const { code, stdout, stderr } = await publish(fileOf(first, 2_500), lossy.url, own().publishUrl)
      assert.equal(code, 0, stderr)
      assert.match(stdout + stderr, /1000 (?:drafts? )?duplicate/i)
      assert.deepEqual(await amounts(own(), first, 2_500), counted(first, 2_500))
      assert.equal(posts, 2, 'the third request goes to the publish API that answered')
    })
  }

  test('gives nothing to a publish API of another log, even when the answer of the first publish API is lost', async () => {
    const { publishUrl } = own()
    await using silent = await startProxy(publishUrl, (path) =>
      path === '/publish' ? { cutAfter: 0, once: () => true } : 'none',
    )
    const { code, stderr } = await publish(fileOf(20_000, 2), silent.url, foreign().publishUrl)
    assert.equal(code, 1)
    assert.match(stderr, /belongs to another log/)
    assert.deepEqual(await amounts(foreign(), 20_000, 2), [])
  })

  test('takes a refusal of the first publish API as final', async () => {
    const file = join(folder, 'refused.jsonl')
    writeFileSync(file, '{"ref":"refused-1","type":"contest","kind":"paid","contestId":1}\n')
    await using second = await startProxy(own().publishUrl, () => 'none')
    const { code, stderr } = await publish(file, own().publishUrl, second.url)
    assert.equal(code, 1)
    assert.match(stderr, /line 1/)
    assert.deepEqual(second.asked, [])
  })

  test('asks the next publish API about held drafts too', async () => {
    const publishUrls = `${AWAY},${own().publishUrl}`
    const words = ['--to', publishUrls, '--token-file', tokenFile]
    assert.deepEqual((await run(['held', ...words])).code, 0)
    const { stdout } = await run(['held', 'drop', 'no-such-ref', '--reason', 'Unknown', ...words])
    assert.match(stdout, /"status":"unknown"/)
  })
})

/** A publish API that answers every request with this status, and counts the drafts. */
async function scripted(
  answer: () => number,
): Promise<Readonly<{ url: string; sent: string[]; server: Server }>> {
  const sent: string[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const status = answer()
    response.writeHead(status, { 'daybook-log': 'one-log' })
    if (request.method === 'POST') sent.push(body)
    response.end(JSON.stringify(status === 200 ? { drafts: [{ ref: 'a', status: 'published' }] } : {}))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent, server }
}

suite('a command that gives up', () => {
  test('does not say only that nothing was published when an earlier attempt is in doubt', async () => {
    const codes = ['outcome-unknown']
    const detail = 'nothing was published'
    const server = createServer((_request, response) => {
      response.writeHead(503, { 'daybook-log': 'one-log', 'retry-after': '0' })
      response.end(JSON.stringify({ code: codes.shift() ?? 'not-leading', detail }))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const publishUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { code, stderr } = await publish(fileOf(60_000, 1), publishUrl)
    server.closeAllConnections()
    server.close()
    assert.equal(code, 1)
    assert.match(
      stderr,
      /nothing was published; an earlier attempt may have published them: send the same refs/,
    )
  })
})

suite('the choice of a publish API', () => {
  test('stays at a fallback, and goes back to the first publish API after a minute when it is ready', async () => {
    let [now, status] = [0, 503]
    const first = await scripted(() => status)
    const second = await scripted(() => 200)
    const context = contextOf({ monotonicMs: () => now })
    const addresses = openAddressChoice(`${first.url},${second.url}`, context)
    const send = () => sendOnce({ addresses, token: 'token', log: null, stop: context.stop }, ['a'])
    await send()
    await send()
    assert.deepEqual([first.sent.length, second.sent.length], [1, 2])
    now += 60_000
    await send()
    assert.deepEqual([first.sent.length, second.sent.length], [1, 3], 'the first is still not ready')
    status = 200
    await send()
    assert.deepEqual([first.sent.length, second.sent.length], [1, 4], 'it is asked once a minute')
    now += 60_000
    await send()
    assert.deepEqual([first.sent.length, second.sent.length], [2, 4])
    for (const { server } of [first, second]) {
      server.closeAllConnections()
      server.close()
    }
  })

  test('takes at most eight addresses, each that of a publish API', async () => {
    const nine = Array.from({ length: 9 }, () => AWAY).join(',')
    for (const to of [nine, `${AWAY},`, `${AWAY},ftp://x`, `${AWAY}/path`]) {
      const { code, stderr } = await run(['publish', '--to', to, '--token-file', tokenFile])
      assert.equal(code, 2, stderr)
    }
  })
})
