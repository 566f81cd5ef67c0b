import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { allocateReport, openReportCell } from '../../src/command/nodes/report-cell.ts'
import { Registry } from 'prom-client'
import type { LogLines } from '../../src/command/log-lines/log-lines.ts'
import { openClusterTelling } from '../../src/command/nodes/cluster-telling.ts'
import { openShownCluster } from '../../src/command/nodes/shown-cluster.ts'
import type { Cluster } from '../../src/protocol/cluster-resource.ts'
import type { Status } from '../../src/protocol/resources.ts'
import type { ClusterReport } from '../../src/publish/cluster/cluster-report.ts'
import type { ClusterWords } from '../../src/serve/api/status-route.ts'
import { openApiStage } from '../stage/api-stage.ts'

const HEARD_MS = Date.UTC(2026, 9, 2, 23, 59, 30)
const HEARD: Cluster['writers'][number] = {
  name: 'b',
  seq: 13,
  heardAt: '2026-10-02T23:59:30.000Z',
  heardAtMs: HEARD_MS,
  silent: false,
  fault: null,
}
const CLUSTER: Cluster = {
  name: 'a',
  leads: true,
  publishing: true,
  reason: null,
  lag: 0,
  writers: [
    HEARD,
    {
      name: 'c',
      seq: 12,
      heardAt: '2026-10-02T23:50:00.000Z',
      heardAtMs: HEARD_MS - 570_000,
      silent: true,
      fault: null,
    },
    { name: 'd', seq: null, heardAt: null, heardAtMs: null, silent: true, fault: null },
  ],
}

const REPORT: ClusterReport = {
  node: 'a',
  leads: true,
  refusal: 'engine',
  lag: 3,
  unsettledMs: null,
  unknownTotal: 1,
  voidTotal: 0,
  refusedMarks: 0,
  writers: [
    { name: 'b', seq: 13, heardMs: 1_400, isSilent: false, fault: null },
    { name: 'c', seq: 0, heardMs: Number.POSITIVE_INFINITY, isSilent: true, fault: 'settings' },
  ],
  offsetMs: 2,
  faults: ['the server secret-host has no sync_always'],
}

suite('one of several writers', () => {
  test('names the others in /status, and the ETag changes with what it says', async () => {
    let words: ClusterWords = { version: 1, cluster: CLUSTER }
    await using stage = await openApiStage({ cluster: () => words })
    const first = await stage.get('/api/v1/status')
    assert.deepEqual(((await first.json()) as Status).cluster, CLUSTER)
    words = { version: 2, cluster: { ...CLUSTER, leads: false, publishing: false, reason: 'disk' } }
    const second = await stage.get('/api/v1/status', { 'If-None-Match': first.headers.get('etag') ?? '' })
    assert.equal(second.status, 200)
    assert.equal(((await second.json()) as Status).cluster?.reason, 'disk')
  })

  test('says in plain words on its page why it takes no events, and who is silent', async () => {
    const cluster: Cluster = { ...CLUSTER, publishing: false, reason: 'unsettled' }
    await using stage = await openApiStage({ cluster: () => ({ version: 1, cluster }) })
    const page = await (await stage.get('/status')).text()
    const words = page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
    assert.match(words, /Role writer, with others/)
    assert.match(words, /Takes new events no: it does not know yet whether its last events were stored/)
    assert.match(words, /Events of b 13 , heard/)
    assert.match(words, /Events of c silent since/)
    assert.match(words, /Events of d not heard yet/)
  })

  test('tells all serving threads names and counts, and no words of the engine', () => {
    const memory = { cluster: allocateReport() }
    const tell = openShownCluster({ nodeName: 'a' }, memory, () => HEARD_MS + 1_400)
    const cell = openReportCell<Omit<ClusterWords, 'version'>>(memory.cluster)
    assert.deepEqual(cell.read()?.cluster, {
      ...CLUSTER,
      leads: false,
      publishing: false,
      reason: 'starting',
      writers: [],
    })
    tell(REPORT)
    const told = cell.read()
    assert.deepEqual(told, {
      version: 2,
      cluster: {
        ...CLUSTER,
        publishing: false,
        reason: 'engine',
        lag: 3,
        writers: [
          HEARD,
          { name: 'c', seq: null, heardAt: null, heardAtMs: null, silent: true, fault: 'settings' },
        ],
      },
    })
    tell(REPORT)
    assert.equal(cell.read(), told, 'the same report has the same version')
  })

  test('names on its page the writers that an operator must mend', async () => {
    const [b, c] = CLUSTER.writers
    assert.ok(b !== undefined && c !== undefined)
    const cluster: Cluster = {
      ...CLUSTER,
      publishing: false,
      reason: 'twin',
      writers: [
        { ...b, fault: 'settings' },
        { ...b, name: 'e', fault: 'key' },
      ],
    }
    await using stage = await openApiStage({ cluster: () => ({ version: 1, cluster }) })
    const page = await (await stage.get('/status')).text()
    const words = page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
    assert.match(words, /Takes new events no: another running writer has its name or its key/)
    assert.match(words, /Events of b 13 , heard [^;]*; it has other settings than this one/)
    assert.match(words, /Events of e 13 , heard [^;]*; it has the key of another running writer/)
  })

  test('counts and says once which writers an operator must mend', async () => {
    const said: unknown[] = []
    const lines = { say: (...line: readonly unknown[]) => said.push(line) } as unknown as LogLines
    const registry = new Registry()
    const { onCluster } = openClusterTelling({
      registry,
      lines,
      metrics: { followed: () => undefined },
      show: () => undefined,
      monotonicMs: () => 0,
    })
    const b = { name: 'b', seq: 13, heardMs: 1_400, isSilent: false } as const
    for (const faults of [[null], ['name'], ['name', 'settings'], [null], ['key']] as const)
      onCluster({ ...REPORT, faults: [], refusedMarks: 7, writers: faults.map((fault) => ({ ...b, fault })) })
    assert.deepEqual(said, [
      ['writer-twin', { words: 'b', fault: 'name' }],
      ['writer-settings', { words: 'b' }],
      ['writer-twin', { words: 'b', fault: 'key' }],
    ])
    const metrics = await registry.metrics()
    assert.match(metrics, /^daybook_marks_refused_total 7$/m)
    assert.match(metrics, /^daybook_writer_faults 1$/m)
  })

  test('writes a line once when the clocks differ by a second', () => {
    const said: unknown[] = []
    const lines = { say: (...line: readonly unknown[]) => said.push(line) } as unknown as LogLines
    const { onCluster } = openClusterTelling({
      registry: new Registry(),
      lines,
      metrics: { followed: () => undefined },
      show: () => undefined,
      monotonicMs: () => 0,
    })
    for (const offsetMs of [null, 999, -1_000.4, 1_200, 0, 1_500])
      onCluster({ ...REPORT, offsetMs, faults: [], writers: [] })
    assert.deepEqual(said, [
      ['engine-clock', { ms: 1_000 }],
      ['engine-clock', { ms: 1_500 }],
    ])
  })
})
