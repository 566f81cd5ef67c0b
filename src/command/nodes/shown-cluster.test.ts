import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { QUIET_STATE } from '../../../test/messages/step-parts.ts'
import { allocateReport, openReportCell } from './report-cell.ts'
import { openShownCluster } from './shown-cluster.ts'
import type { ReplicaState } from '../../publish/replica/replica.ts'
import { clusterReport } from '../../publish/cluster/cluster-report.ts'

const NOW_MS = Date.UTC(2026, 0, 1)

/** A writer that runs alone, and waits in vain for others. */
const alone = (silent: readonly string[]): ReplicaState => ({
  ...QUIET_STATE,
  silent,
  engine: { offset: { offsetMs: 0, errorMs: 1 }, isOld: null, complaints: [] },
})

suite('what a writer shows of the others', () => {
  test('can be shown after a thousand writers with other names, which are gone', () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `${index}`.padStart(63, 'daybook-'))
    const report = clusterReport({ node: 'a', rules: '' }, true, alone(names), NOW_MS)
    assert.equal(report.writers.length, 64)
    assert.ok(report.writers.every(({ isSilent }) => isSilent))
    const cluster = allocateReport()
    openShownCluster({ nodeName: 'a' }, { cluster }, () => NOW_MS)(report)
    assert.ok(openReportCell(cluster).read() !== null)
  })
})
