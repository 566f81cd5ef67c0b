import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import { MAIN, SAMPLE } from '../stage/places.ts'
import { type Service, startService } from '../stage/service.ts'
import { skipUnless, skipWithout } from '../processes/test-needs.ts'
import { type Proxy, startCaddy, startNginx } from './proxy-stage.ts'

const LIMIT = 60
/** Seconds for which crowds ask for one page. */
const CROWDS_SECONDS = { least: 3, most: 30 }
const run = promisify(execFile)

/** Callers that are enough for both of two machines to get some. */
const CALLERS = 64
const OPTIONS = ['--trust-proxy', '127.0.0.1/32', '--rate-limit', String(LIMIT), '--page-cache', '2']

/** Status of an answer, and a word of the service that gave it. */
type Answer = Readonly<{ status: string; by: string }>

const PROXIES = { nginx: startNginx, caddy: startCaddy } as const

suite('in front of a service', () => {
  let service: Service
  before(async () => {
    service = await startService({ drafts: SAMPLE, options: OPTIONS })
  })
  after(() => service?.[Symbol.asyncDispose]())

  for (const name of ['nginx', 'caddy'] as const)
    suite(`${name} with its example`, { skip: skipWithout(name) }, () => {
      let proxy: Proxy
      before(async () => {
        proxy = await PROXIES[name]([service.url])
      })
      after(() => proxy?.[Symbol.asyncDispose]())

      /** Answer to one request, from an address that the caller claims. */
      const ask = async (path: string, claimed: string, ...words: readonly string[]): Promise<string> => {
        const all = ['-sk', '-H', `X-Forwarded-For: ${claimed}`, ...words, proxy.url + path]
        return (await run('curl', all, { maxBuffer: 64 * 1024 * 1024 })).stdout
      }
      const head = (path: string, claimed: string): Promise<string> =>
        ask(path, claimed, '-D', '-', '-o', '/dev/null')
      /** Status of each of more requests than the rate limit allows. */
      const tooMany = async (claimed: string): Promise<readonly string[]> => {
        const path = `/api/v1/summary#[0-${LIMIT}]`
        return (await ask(path, claimed, '-w', '%{http_code}\n', '-o', '/dev/null')).trim().split('\n')
      }

      /** Answer without the proxy. */
      const direct = async (path: string): Promise<string> => {
        const answer = await fetch(service.url + path, { headers: { accept: '*/*' } })
        assert.equal(answer.status, 200, path)
        return answer.text()
      }

      for (const path of ['/api/v1/stream', '/live']) {
        test(`passes on ${path} without buffering`, async () => {
          const words = ['-skN', '-H', 'Accept: application/x-ndjson', `${proxy.url}${path}`]
          const child = spawn('curl', words, { stdio: ['ignore', 'pipe', 'ignore'] })
          // The stream stays open, so buffered bytes would never arrive.
          const [first] = await once(child.stdout, 'data', { signal: AbortSignal.timeout(60_000) })
          assert.match(String(first), /^\{"position"/)
          child.kill()
          await once(child, 'close')
        })
      }

      test('passes on a page, a signed checkpoint and a month file unchanged', async () => {
        for (const path of ['/payouts', '/api/v1/log/checkpoint', '/api/v1/archive/2026-07.jsonl.gz']) {
          const earlier = await direct(path)
          const seen = await ask(path, '203.0.113.1')
          // A page has the present minute.
          assert.ok([earlier, await direct(path)].includes(seen), path)
        }
      })

      test('has no fault that doctor finds', async () => {
        const env = { ...process.env, NODE_EXTRA_CA_CERTS: proxy.pem }
        const { stdout } = await run(process.execPath, [MAIN, 'doctor', '--url', proxy.url], { env })
        assert.doesNotMatch(stdout, /^(?:warn|wrong)/m)
      })

      if (name === 'nginx') {
        test('redirects plain HTTP to the same address with TLS', async () => {
          const words = [
            '-si',
            '--unix-socket',
            join(proxy.folder, 'http'),
            'http://data.example.org/events?type=gift',
          ]
          const { stdout } = await run('curl', words)
          assert.match(stdout, /^HTTP\/1\.1 301 /)
          assert.match(stdout, /^Location: https:\/\/data\.example\.org\/events\?type=gift\r$/m)
        })

        test('has faults that doctor finds, when it caches what it must not or compresses the streams', async () => {
          await using wrong = await startNginx([service.url], {
            'proxy_buffering off;': 'gzip on; gzip_proxied any; gzip_types text/event-stream;',
            'proxy_cache_lock on;': 'proxy_ignore_headers Cache-Control; proxy_cache_valid any 1m;',
            'add_header X-Cache $upstream_cache_status;': '',
          })
          const env = { ...process.env, NODE_EXTRA_CA_CERTS: wrong.pem }
          const words = [MAIN, 'doctor', '--url', wrong.url]
          const { stdout } = await run(process.execPath, words, { env }).catch((error) => error)
          const found = [...String(stdout).matchAll(/^wrong +(\w+) +(.*)$/gm)].map(([, ...line]) =>
            line.join(': '),
          )
          assert.deepEqual(found, [
            'cache: /api/v1/summary: the same answer came 3 times to one caller: let no proxy cache what Cache-Control forbids',
            'stream: a proxy compresses it, which delays events',
            'live: a proxy compresses it, which delays events',
          ])
        })

        test('caches immutable answers', async () => {
          assert.match(await head('/api/v1/events/1', '203.0.113.1'), /^x-cache: MISS/im)
          assert.match(await head('/api/v1/events/1', '203.0.113.2'), /^x-cache: HIT/im)
        })

        test('asks for a popular page once in two seconds, with --page-cache 2', async () => {
          const began = performance.now()
          const seconds = (): number => (performance.now() - began) / 1_000
          let crowds = 0
          let made = 0
          // On a slow machine the second question to the service may not be counted after the shortest time.
          while (seconds() < CROWDS_SECONDS.least || (made < 2 && seconds() < CROWDS_SECONDS.most)) {
            const words = ['-Z', '--compressed', '-w', '%{http_code} %header{x-cache}\\n', '-o', '/dev/null']
            const lines = (await ask('/contests#[1-100]', '203.0.113.1', ...words)).trim().split('\n')
            assert.equal(lines.length, 100)
            for (const line of lines) assert.match(line, /^200 (?:MISS|HIT|EXPIRED|STALE|UPDATING)$/)
            crowds++
            const metrics = await (await fetch(`${service.publishUrl}/metrics`)).text()
            const counts = metrics.matchAll(
              /^daybook_http_requests_total\{[^}]*route="\/contests"[^}]*\} (\d+)/gm,
            )
            made = [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
          }
          assert.ok(
            made >= 2 && made <= 2 + seconds() / 2,
            `${made} requests in ${seconds()} s for ${crowds} crowds`,
          )
        })

        test('forwards the address of each caller, so that each has its own allowance', async () => {
          const codes = await tooMany('203.0.113.3')
          assert.deepEqual([codes.at(0), codes.at(-1)], ['200', '429'])
          assert.match(await head('/api/v1/summary', '203.0.113.4'), /^HTTP\/2 200/)
        })
      } else {
        test('forwards the address of the caller, and none that the caller claims', async () => {
          assert.equal((await tooMany('203.0.113.3')).at(-1), '429')
          assert.match(await head('/api/v1/summary', '203.0.113.4'), /^HTTP\/2 429/)
        })
      }
    })

  suite('and another', () => {
    let other: Service
    before(async () => {
      other = await startService({ options: OPTIONS })
    })
    after(() => other?.[Symbol.asyncDispose]())
    const urls = (): readonly string[] => [service.url, other.url]

    /** Sends one request for each list of words, in this order. Returns the status of each, and the service that answered. */
    async function send(proxy: Proxy, requests: readonly (readonly string[])[]): Promise<readonly Answer[]> {
      // The id of a request begins with a word of the service's own. Only a refusal has one.
      const told = ['-w', '%{http_code} %header{daybook-request}\\n', `${proxy.url}/api/v1/nothing`]
      const words = requests.flatMap((own) => ['--next', '-sk', ...own, '-o', '/dev/null', ...told])
      const { stdout } = await run('curl', words.slice(1))
      return stdout
        .trim()
        .split('\n')
        .map((line) => {
          const [, status = '', by = ''] = /^(\d+) (\w+)-\w+$/.exec(line) ?? []
          return { status, by }
        })
    }

    /** Checks that both services answer, and that each caller has one of them and one rate limit. */
    async function checkCallers(
      proxy: Proxy,
      callers: readonly Readonly<{ first: readonly string[]; second: readonly string[] }>[],
    ): Promise<void> {
      const both = callers.flatMap(({ first, second }) => [first, second])
      const answers = await send(proxy, both)
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set(['404']))
      const used = new Set(answers.map(({ by }) => by))
      assert.equal(used.size, 2)
      for (const [at, { by }] of answers.entries())
        assert.equal(by, answers[at - (at % 2)]?.by, `caller ${Math.floor(at / 2)}`)

      const { first = [], second = [] } = callers[0] ?? {}
      const more = await send(proxy, [...Array.from({ length: LIMIT - 2 }, () => first), second])
      assert.deepEqual([more.at(-2)?.status, more.at(-1)?.status], ['404', '429'])
    }

    test(
      'nginx sends a caller to one of them, and a /64 of IPv6 is one caller',
      { skip: skipWithout('nginx') },
      async () => {
        await using proxy = await startNginx(urls(), {
          // Claimed addresses stand in for connections from them.
          'proxy_http_version 1.1;':
            'set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For; proxy_http_version 1.1;',
        })
        const from = (address: string): readonly string[] => ['-H', `X-Forwarded-For: ${address}`]
        const callers = Array.from({ length: CALLERS }, (_, n) => {
          const network = `2001:db8:a0a:${(n + 1).toString(16)}:`
          return { first: from(`${network}:1`), second: from(`${network}fedc:ba98:7654:a0a`) }
        })
        await checkCallers(proxy, callers)
        const old = Array.from({ length: CALLERS }, (_, n) => from(`198.51.100.${n + 1}`))
        await checkCallers(
          proxy,
          old.map((words) => ({ first: words, second: words })),
        )
      },
    )

    test(
      'Caddy sends a caller to one of them, and a /64 of IPv6 is one caller',
      { skip: skipWithout('caddy') },
      async (t) => {
        await using proxy = await startCaddy(urls(), {
          'lb_policy header X-Caller-Network': `lb_policy header X-Caller-Network
          header_down X-Seen {http.request.header.X-Caller-Network}`,
        })
        const addresses = Array.from({ length: CALLERS }, (_, n) => ['--interface', `127.0.1.${n + 1}`])
        await checkCallers(
          proxy,
          addresses.map((words) => ({ first: words, second: words })),
        )
        // No machine has two addresses of one /64 by itself, so the test reads what Caddy goes by.
        await t.test('with the first 64 bits', { skip: skipUnless(hasIpv6(), 'IPv6') }, async () => {
          const { host, port } = new URL(proxy.url)
          const words = ['-sk', '--connect-to', `${host}:[::1]:${port}`, '-H', 'X-Caller-Network: mine']
          const seen = ['-o', '/dev/null', '-w', '%header{x-seen}', `${proxy.url}/api/v1/nothing`]
          const { stdout } = await run('curl', [...words, ...seen])
          assert.equal(stdout, '::/64')
        })
      },
    )
  })
})

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))
}
