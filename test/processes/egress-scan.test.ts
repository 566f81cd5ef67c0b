import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { suite, test } from 'node:test'
import { PUBLISHED } from '../story/addresses.ts'
import { openEgressScan } from './egress-report.ts'

/** A server that answers with the public headers, and asks itself. */
const SERVER = `
  import { createServer } from 'node:http'
  import { gzipSync } from 'node:zlib'
  const [body, coding, header = 'Content-Security-Policy'] = process.argv.slice(1)
  const server = createServer((request, response) => {
    response.writeHead(200, { [header]: 'none', 'Daybook-Log': '0a', ...(coding === 'gzip' ? { 'Content-Encoding': 'gzip' } : {}) })
    response.end(coding === 'gzip' ? gzipSync(body) : body)
  }).listen(0, '127.0.0.1', async () => {
    await (await fetch('http://127.0.0.1:' + server.address().port + '/page')).text()
    server.close()
    server.closeAllConnections()
  })`

/** Scans a process that sends a body once. */
function scanned(...words: readonly string[]): Readonly<{ bytes: number; findings: readonly string[] }> {
  // Its leaks are none of a run that is scanned itself.
  const scan = openEgressScan('')
  try {
    const env = { ...process.env, NODE_OPTIONS: scan.nodeOptions }
    const ended = spawnSync(process.execPath, ['--input-type=module', '-e', SERVER, ...words], {
      env,
      encoding: 'utf8',
    })
    assert.equal(ended.status, 0, ended.stderr)
    return scan.read()
  } finally {
    scan.close()
  }
}

suite('the scan of everything that the tests receive', () => {
  const leaks = PUBLISHED.filter(({ address }) => /^[0-9A-Za-z]{26,}$/.test(address)).map(
    ({ address }) => address,
  )

  test('finds an address in a public answer, and tells its hash alone', () => {
    const { bytes, findings } = scanned(leaks.map((address) => `{"title":"${address}"}`).join('\n'), 'plain')
    assert.ok(bytes > 1_000)
    assert.equal(findings.length, leaks.length)
    for (const address of leaks) assert.ok(!findings.join().includes(address))
  })

  test('finds it before compression', () => {
    const { findings } = scanned(`x ${leaks[0]} y`, 'gzip')
    assert.equal(findings.length, 1)
    assert.match(findings[0] ?? '', /compressed/)
  })

  test('finds it between the slashes of a path', () => {
    assert.equal(scanned(`"/contests/${leaks[0]}/ledger"`, 'plain').findings.length, 1)
  })

  test('leaves transactions, digests, signatures and private answers alone', () => {
    const honest = [
      '67gf92WK1QMEwCP8kDekVgBVPWfDWDvHymktFKitDR96ZaV8obREdettCVcpxkPyUKne5gfAdjBSReAE9fVC5bJ1',
      'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      `${leaks[0]}=`,
      // A slash is a character of base64, and of a path.
      `— witness.example/w abc+/${leaks[0]}/defg==`,
      'ordinary words of a page, '.repeat(100),
    ]
    const { bytes, findings } = scanned(honest.join('\n'), 'plain')
    assert.ok(bytes > 1_000)
    assert.deepEqual(findings, [])
    assert.deepEqual(scanned(`x ${leaks[0]} y`, 'plain', 'X-Other'), { bytes: 0, findings: [] })
  })
})
