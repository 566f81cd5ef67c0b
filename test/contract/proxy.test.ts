import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import { pathOf, skipWithout } from '../stage/test-needs.ts'
import { blocksOf, textOf } from '../stage/document.ts'
import type { Service } from '../stage/service.ts'
import { startService } from '../stage/service.ts'
import { SAMPLE } from '../stage/places.ts'

const NGINX = pathOf('nginx')
const LIMIT = 3
const run = promisify(execFile)
const blocks = blocksOf(textOf('docs/operating.md'))

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return address !== null && typeof address === 'object' ? address.port : 0
}

suite('the nginx configuration of docs/operating.md', { skip: skipWithout('nginx') }, () => {
  let folder = ''
  let service: Service
  let base = ''
  let end: () => Promise<void>
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'daybook-nginx-'))
    const options = ['--trust-proxy', '127.0.0.1/32', '--rate-limit', String(LIMIT)]
    service = await startService({ drafts: SAMPLE, options })
    const port = await freePort()
    base = `https://127.0.0.1:${port}`
    const [pem, key] = [join(folder, 'a.pem'), join(folder, 'a.key')]
    const made = ['-x509', '-newkey', 'ed25519', '-nodes', '-subj', '/CN=x', '-out', pem, '-keyout', key]
    await run('openssl', ['req', ...made])
    const told = blocks.find(({ language }) => language === 'nginx')?.text ?? ''
    const site = told
      .replace('/var/cache/nginx/daybook', join(folder, 'cache'))
      .replace('127.0.0.1:8080', new URL(service.url).host)
      .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
      .replace('/etc/ssl/data.example.org.pem', pem)
      .replace('/etc/ssl/data.example.org.key', key)
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    const paths = temporary.map((name) => `${name}_temp_path ${join(folder, name)};`).join('\n')
    const user = process.getuid?.() === 0 ? 'user root;' : ''
    const whole = `${user} daemon off; pid ${join(folder, 'pid')}; error_log stderr; events {}
http { access_log off; ${paths}\n${site}\n}`
    await writeFile(join(folder, 'nginx.conf'), whole)
    const words = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr']
    const child = spawn(NGINX ?? '', words, { stdio: 'ignore' })
    end = async () => {
      if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'close')
    }
    // Retries until nginx listens.
    await run('curl', ['-sk', '--retry', '50', '--retry-connrefused', '--retry-delay', '1', `${base}/livez`])
  })
  after(async () => {
    await end?.()
    await service?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  const head = async (path: string, from: string): Promise<string> => {
    const words = ['-sk', '-D', '-', '-o', '/dev/null', '-H', `X-Forwarded-For: ${from}`, base + path]
    return (await run('curl', words)).stdout
  }

  for (const path of ['/api/v1/stream', '/live']) {
    test(`passes on ${path} without buffering`, async () => {
      const words = ['-skN', '-H', 'Accept: application/x-ndjson', `${base}${path}`]
      const child = spawn('curl', words, { stdio: ['ignore', 'pipe', 'ignore'] })
      // The stream stays open, so buffered bytes would never arrive.
      const [first] = await once(child.stdout, 'data', { signal: AbortSignal.timeout(10_000) })
      assert.match(String(first), /^\{"position"/)
      child.kill()
      await once(child, 'close')
    })
  }

  test('caches immutable answers', async () => {
    assert.match(await head('/api/v1/events/1', '203.0.113.1'), /^x-cache: MISS/im)
    assert.match(await head('/api/v1/events/1', '203.0.113.2'), /^x-cache: HIT/im)
  })

  test('forwards the address of each caller, so that each has its own allowance', async () => {
    const asked: string[] = []
    for (let number = 0; number <= LIMIT; number++) asked.push(await head('/api/v1/summary', '203.0.113.3'))
    assert.match(asked[0] ?? '', /^HTTP\/1\.1 200/)
    assert.match(asked.at(-1) ?? '', /^HTTP\/1\.1 429/)
    assert.match(await head('/api/v1/summary', '203.0.113.4'), /^HTTP\/1\.1 200/)
  })
})

suite('the units of docs/operating.md', () => {
  test('are valid for systemd', { skip: skipWithout('systemd-analyze') }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'daybook-units-'))
    try {
      const names = ['daybook.service', 'daybook-backup.service', 'daybook-backup.timer']
      const units = blocks.filter(({ language }) => language === 'ini')
      assert.equal(units.length, names.length)
      const files = names.map((name) => join(folder, name))
      for (const [index, file] of files.entries()) await writeFile(file, `${units[index]?.text}\n`)
      const { stderr } = await run('systemd-analyze', ['verify', ...files])
      assert.doesNotMatch(stderr, /daybook/)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
