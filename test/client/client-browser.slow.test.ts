import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { build } from 'esbuild-wasm'
import { chromium, type Page } from 'playwright-core'
import { CHROMIUM, DRIVEN_FLAGS } from '../stage/browser.ts'
import { skipWithout } from '../processes/test-needs.ts'
import { publishTo } from '../stage/node-process.ts'
import { type Service, startService } from '../stage/service.ts'
import { ROOT, SAMPLE } from '../stage/places.ts'

const SAMPLE_EVENTS = 2_187
/** More tabs than a browser opens connections to one host over HTTP/1.1. */
const TABS = 8

const pageOf = (base: string): string => `<!doctype html><title>Client</title><script type="module">
import { openDaybook, sharedStream } from '/client.js'
const daybook = openDaybook(${JSON.stringify(base)})
Object.assign(window, {
  seqs: [],
  states: [],
  async follow(after) {
    const onStatus = ({ state }) => states.push(state)
    for await (const { seq } of sharedStream(daybook, { after, onStatus })) seqs.push(seq)
  },
  async readAll() {
    const count = async (events) => (await Array.fromAsync(events)).length
    const { months } = await daybook.archive()
    let files = 0
    for (const { month } of months) files += await count(daybook.month(month))
    return [await count(daybook.events()), files, (await daybook.summary()).events]
  },
})
</script>`

/** A page of another origin, with both entries of the client. */
async function servePage(base: string): Promise<AsyncDisposable & Readonly<{ url: string }>> {
  const entryPoints = [join(ROOT, 'test', 'client', 'client-entry.ts')]
  const { outputFiles } = await build({
    entryPoints,
    bundle: true,
    format: 'esm',
    minify: true,
    write: false,
  })
  const script = outputFiles[0]?.text ?? ''
  const server = createServer(({ url }, response) => {
    const isScript = url === '/client.js'
    response.setHeader(
      'content-type',
      isScript ? 'text/javascript; charset=utf-8' : 'text/html; charset=utf-8',
    )
    response.end(isScript ? script : pageOf(base))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address !== 'string')
  return {
    url: `http://127.0.0.1:${address.port}/`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function publish(to: Service, from: number, upTo: number): Promise<void> {
  for (let number = from; number < upTo; number++) {
    const draft = { ref: `tab-${number}`, type: 'trade', kind: 'buy', kots: '1' }
    assert.equal((await publishTo(to, [draft])).status, 200)
  }
}

const seqsOf = (tab: Page): Promise<number[]> => tab.evaluate('seqs')

const range = (after: number, last: number): number[] =>
  Array.from({ length: last - after }, (_, index) => after + index + 1)

suite('the client in a browser', { skip: skipWithout('chromium') }, () => {
  test('reads pages and files, and shares one stream between many tabs, whichever of them close', async () => {
    await using service = await startService({ drafts: SAMPLE })
    await using page = await servePage(service.url)
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: [...DRIVEN_FLAGS] })
    try {
      const context = await browser.newContext()
      let streams = 0
      context.on('request', (request) => (streams += request.url().includes('/stream') ? 1 : 0))
      const tabs: Page[] = []
      for (let number = 0; number < TABS; number++) {
        const tab = await context.newPage()
        await tab.goto(page.url)
        tabs.push(tab)
      }
      const [first, ...others] = tabs
      assert.ok(first !== undefined)
      assert.deepEqual(await first.evaluate('readAll()'), [SAMPLE_EVENTS, SAMPLE_EVENTS, SAMPLE_EVENTS])
      for (const tab of tabs) await tab.evaluate("void follow('head')")
      for (const tab of tabs) await tab.waitForFunction("states.at(-1) === 'live'")
      await publish(service, 0, 20)
      for (const tab of tabs) await tab.waitForFunction('seqs.length >= 20')
      assert.equal(streams, 1)
      await first.close()
      await publish(service, 20, 40)
      for (const tab of others) {
        await tab.waitForFunction('seqs.length >= 40')
        assert.deepEqual(await seqsOf(tab), range(SAMPLE_EVENTS, SAMPLE_EVENTS + 40))
      }
      assert.equal(streams, 2)
    } finally {
      await browser.close()
    }
  })
})
