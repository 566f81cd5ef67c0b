import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { before, suite, test } from 'node:test'
import { startMirrorNode } from '../mirror/mirror-stage.ts'
import { startNginx } from '../ops/proxy-stage.ts'
import { skipWithout } from '../processes/test-needs.ts'
import { sharedSample } from '../sample/imported-node.ts'
import { run } from '../stage/command-stage.ts'
import { msOf } from '../../src/protocol/moment.ts'

/**
 * Sentences that nginx with a cache breaks. It removes the conditions of a request, so an answer that may change is never
 * 304, and it refuses ranges and conditions of what it has cached by itself, without CORS.
 */
const BROKEN_BY_CACHE = [
  "A range beyond the file's end is refused with its size.",
  'If-Match comes before the range: a part of another file than the one that it names is never sent.',
  'The file has no date, so conditions with dates say nothing.',
  'The open month is refused alike.',
  'A closed month is also a Parquet table, which never changes. It is read by ranges, also from pages of other sites.',
  'A client that has it gets 304 while it is unchanged.',
  'Whoever has the whole CSV already gets nothing.',
  'It is the same as long as the checkpoint is.',
  'A client that has the checkpoint gets 304.',
  'The list is the same until a witness or the head has something new.',
  'A client that has it gets 304.',
  'A client that has the present figures gets 304, with CORS headers.',
  'Any tag matches a star.',
  'An answer that has not changed is 304 for a reader who has its tag.',
]

suite('daybook conform', () => {
  let sample = ''
  before(async () => {
    sample = (await sharedSample()).url
  })

  const assertConforms = async (url: string): Promise<void> => {
    const { code, stdout, stderr } = await run(['conform', url])
    assert.equal(code, 0, stdout + stderr)
    assert.match(stdout, /^it conforms: \d+ sentences hold; /m)
  }

  test('holds behind nginx that compresses', { skip: skipWithout('nginx') }, async () => {
    await using proxy = await startNginx([sample], {
      '  proxy_http_version 1.1;':
        '  gzip on; gzip_proxied any; gzip_types application/json text/plain text/csv;\n  proxy_http_version 1.1;',
      '    proxy_cache daybook;\n': '',
    })
    await trust(proxy.pem)
    await assertConforms(proxy.url)
  })

  test(
    'names what nginx with a cache changes, and nothing else',
    { skip: skipWithout('nginx') },
    async () => {
      await using proxy = await startNginx([sample])
      await trust(proxy.pem)
      const { code, stdout } = await run(['conform', proxy.url])
      const broken = Array.from(stdout.matchAll(/^ {6}(\S.*)$/gm), ([, sentence = '']) => sentence)
      assert.deepEqual(broken, BROKEN_BY_CACHE)
      assert.equal(code, 1)
    },
  )

  test('holds for a mirror', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'daybook-conform-'))
    {
      await using mirror = await startMirrorNode(join(folder, 'mirror'), sample, () => msOf(Date.now()))
      await assertConforms(`http://127.0.0.1:${mirror.port}`)
    }
    await rm(folder, { recursive: true })
  })

  test('ends with a service that never answers', async () => {
    const server = createServer(() => undefined).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { code, stderr } = await run(['conform', `http://127.0.0.1:${port}`])
    server.closeAllConnections()
    server.close()
    assert.equal(code, 1)
    assert.match(stderr, /^daybook: the service does not answer: no whole answer in 20 s$/m)
  })
})

async function trust(pem: string): Promise<void> {
  setDefaultCACertificates([...getCACertificates(), await readFile(pem, 'utf8')])
}
