import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text as whole } from 'node:stream/consumers'
import { after, before, suite, test } from 'node:test'
import { run } from '../../../test/stage/command-stage.ts'
import { CommandError } from './command-error.ts'
import { fetchSameOrigin, readAddress } from './log-address.ts'

/** Answer of a server to each path: the target of a redirect, or null for an ordinary answer. */
async function leading(
  to: (path: string) => string | null,
): Promise<Readonly<{ url: string; asked: string[] }> & AsyncDisposable> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const location = to(request.url ?? '')
    response.writeHead(location === null ? 404 : 302, location === null ? {} : { location })
    response.end('elsewhere')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

suite('the address of a service', () => {
  test('is accepted with a scheme in any case, a port and a slash at its end', () => {
    assert.equal(readAddress('HTTPS://Data.Example.org/').origin, 'https://data.example.org')
    assert.equal(readAddress('http://127.0.0.1:8080').origin, 'http://127.0.0.1:8080')
  })

  const table: readonly (readonly [text: string, said: RegExp])[] = [
    ['', /give the address of the service, such as/],
    ['data.example.org', /give the address of the service, such as/],
    ['ftp://data.example.org', /give the address of the service, such as/],
    ['http://', /give the address of the service, such as/],
    ['http://data.example.org:99999', /give the address of the service, such as/],
    ['http://data.example.org/api/v1', /without a path, such as/],
    ['http://data.example.org?at=1', /without a query, such as/],
    ['http://data.example.org/?', /without a query, such as/],
    ['http://data.example.org/#charts', /without a fragment, such as/],
    ['http://me:secret@data.example.org', /without a name or password, such as/],
    ['http://me@data.example.org/x?y#z', /without a name or password or a path or a query or a fragment/],
  ]
  for (const [text, said] of table) {
    test(`is refused without repeating its password: ${JSON.stringify(text)}`, () => {
      const refused = (error: unknown): boolean =>
        error instanceof CommandError &&
        error.exitCode === 2 &&
        said.test(error.message) &&
        !error.message.includes('secret')
      assert.throws(() => readAddress(text), refused)
    })
  }

  test('is checked by every command that asks a service, verify included', async () => {
    for (const words of [['verify'], ['tail'], ['get', 'status'], ['export']]) {
      const { code, stderr } = await run([...words, 'http://me:secret@127.0.0.1:9/?since=1#x'])
      assert.equal(code, 2)
      assert.match(stderr, /^daybook: give the address of the service without a name or password or a query/)
    }
  })
})

suite('an address at which nothing answers', () => {
  test('is reported at once by verify, which retries for a while', async () => {
    const stop = new AbortController()
    const free = createServer().listen(0, '127.0.0.1')
    await once(free, 'listening')
    const { port } = free.address() as AddressInfo
    await new Promise((resolve) => free.close(resolve))
    const stderr = new PassThrough()
    stderr.once('data', () => stop.abort())
    const said = whole(stderr)
    const { code } = await run(['verify', `http://127.0.0.1:${port}`], { stderr, stop: stop.signal })
    stderr.end()
    assert.equal(code, 1)
    assert.match(await said, new RegExp(`^no answer from 127\\.0\\.0\\.1:${port} yet\n`))
  })

  test('fails at once when its port is blocked for web clients', async () => {
    for (const words of [['get', 'status'], ['verify']]) {
      const { code, stderr } = await run([...words, 'http://127.0.0.1:6000'])
      assert.equal(code, 1)
      assert.match(stderr, /^daybook: web clients are not allowed to use port 6000[^\n]*\n$/)
    }
  })
})

suite('the address of the publish API', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-address-'))
  const at = (name: string): string => join(folder, name)
  before(() => {
    writeFileSync(at('token'), 't'.repeat(40))
    writeFileSync(at('drafts'), '{}\n')
  })
  after(() => rmSync(folder, { recursive: true }))
  const words = (to: string, token = at('token')): readonly string[] => [
    'publish',
    at('drafts'),
    '--token-file',
    token,
    '--to',
    to,
  ]

  test('is refused with the parts that would be ignored, and without the password', async () => {
    const { code, stderr } = await run(words('http://me:secret@127.0.0.1:9/publish'))
    assert.equal(code, 2)
    assert.equal(
      stderr,
      'daybook: give the address of the publish API with --to without a name or password or a path, such as http://127.0.0.1:8081\n',
    )
  })

  test('is refused with a hint when it is the public address', async () => {
    const server = createServer((_, response) => {
      response.writeHead(404, { 'Access-Control-Allow-Origin': '*' }).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { code, stderr } = await run(words(`http://127.0.0.1:${port}`))
    server.closeAllConnections()
    server.close()
    assert.equal(code, 1)
    assert.match(
      stderr,
      new RegExp(`127.0.0.1:${port} is the public listener: give --to the address of the publish`),
    )
  })

  test('is used with a token from a file, of which only the beginning is read', async () => {
    const { code, stderr } = await run(words('http://127.0.0.1:9', '/dev/zero'))
    assert.equal(code, 2)
    assert.match(stderr, /the first line of \/dev\/zero is not a token/)
  })
})

suite('a redirect', () => {
  test('to another host ends verify, which names the host and sends it nothing', async () => {
    await using other = await leading(() => null)
    await using service = await leading((path) => `${other.url}${path}`)
    const { code, stderr, stdout } = await run(['verify', service.url])
    assert.equal(code, 1, stderr + stdout)
    assert.equal(
      stderr + stdout,
      `daybook: ${service.url} redirects to ${other.url}: give that address if it is the one to verify\n`,
    )
    assert.deepEqual(other.asked, [])
    assert.equal(service.asked.length, 1)
  })

  test('within the same service is followed a limited number of times', async () => {
    await using service = await leading((path) =>
      path === '/a' ? '/b' : path.startsWith('/circle') ? `${path}+` : null,
    )
    const fetch = fetchSameOrigin((url, init) => globalThis.fetch(url, init))
    const answer = await fetch(`${service.url}/a`, {})
    assert.equal(answer.status, 404)
    assert.deepEqual(service.asked, ['/a', '/b'])
    await assert.rejects(fetch(`${service.url}/circle`, {}), /redirects in a circle/)
    assert.equal(service.asked.length, 2 + 6)
  })
})
