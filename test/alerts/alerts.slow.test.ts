import assert from 'node:assert/strict'
import { existsSync, globSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { textOf } from '../stage/document.ts'
import { ROOT } from '../stage/places.ts'
import { hasPostgres } from '../database/postgres-server.ts'
import { skipUnless, skipWithout } from '../processes/test-needs.ts'
import { finalityCauses } from './finality-causes.ts'
import { cosignerCauses } from './cosigner-causes.ts'
import { auditCauses, localCauses } from './local-causes.ts'
import { mirrorCauses } from './mirror-causes.ts'
import { nodeCauses } from './node-causes.ts'
import { witnessedCauses } from './witnessed-causes.ts'
import { dashboardQueries, ruleQueries, seriesNames, unknownIn } from './queries.ts'
import {
  calmTest,
  type Cause,
  endOf,
  inputSeries,
  promtool,
  runRuleTests,
  shows,
  testOf,
} from './rule-test.ts'
import { labelNames, type ScrapedSeries } from './scrape.ts'

const RULES = textOf('ops/prometheus/alerts.yml')
const RULE_QUERIES = ruleQueries(RULES)
const DASHBOARD = textOf('ops/grafana/daybook.json')
const DASHBOARD_QUERIES = dashboardQueries(DASHBOARD)
const ALERTS = [...new Set([...RULES.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name))]
const RECORDED = new Set([...RULES.matchAll(/- record: (\S+)/g)].map(([, name = '']) => name))
const RUNBOOK = 'docs/runbook'

// The alert about the disk must not fire before its cause.
const folder = mkdtempSync(join(roomyFolder(), 'daybook-alerts-'))
after(() => rmSync(folder, { recursive: true }))

suite('ops/prometheus', { skip: skipWithout('promtool') }, () => {
  test('is right for promtool', async () => {
    const config = await promtool(
      'check',
      'config',
      '--lint=all',
      join(ROOT, 'ops/prometheus/prometheus.yml'),
    )
    assert.ok(config.ok, config.said)
    const rules = await promtool('check', 'rules', '--lint=all', join(ROOT, 'ops/prometheus/alerts.yml'))
    assert.ok(rules.ok, rules.said)
    assert.match(rules.said, new RegExp(`SUCCESS: ${RULE_QUERIES.length} rules found`))
  })
})

suite('the runbook', () => {
  test('has a page for each alert, and no other page', () => {
    const pages = readdirSync(join(ROOT, RUNBOOK)).filter((name) => name !== 'README.md')
    assert.deepEqual(pages.toSorted(), ALERTS.map((name) => `${name}.md`).toSorted())
  })

  test('is named by each alert, with a level that page and index give too', () => {
    const index = textOf(`${RUNBOOK}/README.md`)
    for (const rule of RULES.split(/^ *- (?=alert: )/m).slice(1)) {
      const name = /^alert: (\w+)/.exec(rule)?.[1] ?? ''
      assert.equal(/runbook: (\S+)/.exec(rule)?.[1], `${RUNBOOK}/${name}.md`)
      const level = /severity: (page|ticket|none) /.exec(rule)?.[1] ?? 'no level'
      assert.match(textOf(`${RUNBOOK}/${name}.md`), new RegExp(`^# ${name}\n\nLevel: .*\\b${level}\\b`), name)
      assert.match(
        index,
        new RegExp(`^\\| \\[${name}\\]\\(${name}\\.md\\) \\| [^|]*\\b${level}\\b`, 'm'),
        name,
      )
      assert.match(rule, /summary: .+/)
    }
  })
})

/** Causes that the alerts of options have, from the folders of their tests. */
async function pluggedCauses(): Promise<readonly Cause[]> {
  const paths = globSync('test/*/alert-causes.ts', { cwd: ROOT })
  const causes = paths.map(async (path) => {
    const { openCauses } = (await import(join(ROOT, path))) as { openCauses: () => Promise<readonly Cause[]> }
    return await openCauses()
  })
  return (await Promise.all(causes)).flat()
}

suite(
  'alerts, dashboard and metrics',
  {
    skip: skipUnless(hasPostgres, 'postgresql') || skipWithout('promtool', 'prlimit', 'fallocate'),
  },
  () => {
    const causes: Cause[] = []
    let series: readonly ScrapedSeries[] = []
    before(
      async () => {
        causes.push(...(await localCauses(join(folder, 'local'))))
        // A wrong clock is noticed after 10 s. The other causes are made meanwhile.
        const plugged = pluggedCauses()
        causes.push(
          ...(await auditCauses(join(folder, 'audits'))),
          ...(await finalityCauses()),
          ...(await mirrorCauses(join(folder, 'mirrors'))),
          ...(await cosignerCauses(join(folder, 'witness'))),
          ...(await witnessedCauses(join(folder, 'witnessed'))),
          ...(await nodeCauses(folder)),
          ...(await plugged),
        )
        series = causes.flatMap(({ healthy, ailing }) =>
          [healthy, ...ailing].flatMap((one) => one.series ?? []),
        )
      },
      { timeout: 360_000 },
    )

    test('each alert fires after its cause in a real service, and not before', async () => {
      const caused = causes.filter(({ isNone }) => isNone !== true).map(({ alert }) => alert)
      assert.deepEqual([...new Set(caused)].toSorted(), ALERTS.toSorted())
      const { ok, said } = await runRuleTests(causes.map(testOf))
      assert.ok(ok, `${said}\nThe causes: ${causes.map(({ alert, by }) => `${alert}: ${by}`).join('; ')}`)
    })

    test('no alert fires for a healthy mirror or witness', async () => {
      for (const alert of ['MirrorLate', 'WitnessFoundContradiction']) {
        const cause = causes.find((one) => one.alert === alert)
        assert.ok(cause !== undefined)
        const { ok, said } = await runRuleTests([calmTest(cause.healthy)])
        assert.ok(ok, `${alert}: ${said}`)
      }
    })

    test('each query names series, labels and values that a service has', () => {
      assert.ok(RULE_QUERIES.length > 30 && DASHBOARD_QUERIES.length > 40)
      const unknown = [...RULE_QUERIES, ...DASHBOARD_QUERIES].flatMap(([name, query]) =>
        unknownIn(query, series, RECORDED).map((what) => `${name}: ${what} is unknown`),
      )
      assert.deepEqual(unknown, [])
      assert.deepEqual(
        unknownIn('sum by (colour) (rate(daybook_ready{check="shop"}[5m])) > nothing', series, RECORDED),
        ['nothing', 'label colour', 'daybook_ready: check="shop"'],
      )
    })

    test('each panel of the dashboard shows something while readers get errors', async () => {
      const cause = causes.find(({ alert }) => alert === 'ErrorBudgetBurnsFast')
      assert.ok(cause !== undefined)
      const minute = endOf(cause)
      const { ok, said } = await runRuleTests([
        {
          interval: '1m',
          input_series: inputSeries(cause, () => true),
          promql_expr_test: DASHBOARD_QUERIES.map(([, query]) =>
            shows(query, minute, isFilled(query, cause)),
          ),
        },
      ])
      assert.ok(ok, said)
    })

    test('each metric is in docs/metrics.md with its labels, and on the dashboard, in an alert or the runbook', () => {
      const exposed = series.filter(({ metric }) => metric.startsWith('daybook_'))
      const rows = [...textOf('docs/metrics.md').matchAll(/`(daybook_\w+)(?:\{([^}]*)\})?`/g)]
      for (const [, name = '', labels = ''] of rows) {
        const own = exposed.filter(({ metric }) => metric === name)
        if (own.length === 0) continue
        const given = new Set(own.flatMap(labelNames).filter((label) => label !== 'le'))
        assert.deepEqual([...given].toSorted(), (labels.match(/\w+/g) ?? []).toSorted(), name)
      }
      const told = new Set(rows.map(([, name = '']) => name))
      const missing = new Set(exposed.map(({ metric }) => metric).filter((name) => !told.has(name)))
      assert.deepEqual([...missing], [])
      const pages = ALERTS.map((name) => textOf(`${RUNBOOK}/${name}.md`)).join('')
      const used = new Set([...seriesNamesOf(), ...(pages.match(/\bdaybook_[a-z_]+\b/g) ?? [])])
      assert.deepEqual(
        [...told].filter((name) => !used.has(name)),
        [],
      )
    })
  },
)

/** The folder for temporary files, or one in memory when its disk has less than a quarter left. */
function roomyFolder(): string {
  const { bavail, blocks } = statfsSync(tmpdir())
  return bavail / blocks > 0.25 || !existsSync('/dev/shm') ? tmpdir() : '/dev/shm'
}

/** Names of metrics in all queries. */
function seriesNamesOf(): readonly string[] {
  return [...RULE_QUERIES, ...DASHBOARD_QUERIES].flatMap(([, query]) =>
    seriesNames(query).map((name) => name.replace(/_bucket$/, '')),
  )
}

/** Whether a query has a result: its series have values at the end of the cause. */
function isFilled(query: string, { ailing }: Cause): boolean {
  const last = new Set(ailing.at(-1)?.series?.map(({ name }) => name))
  return seriesNames(query).every(
    (name) => last.has(name) || RECORDED.has(name) || name === 'up' || name === 'ALERTS',
  )
}
