import { labelNames, type ScrapedSeries } from './scrape.ts'

/** Labels that Prometheus adds to each series of a target. */
const TARGET_LABELS = ['job', 'instance']
/** Series that Prometheus makes itself, with their labels. */
const OF_PROMETHEUS: Readonly<Record<string, readonly string[]>> = {
  up: [],
  ALERTS: ['alertname', 'alertstate', 'severity'],
}

/** Queries of a file of rules, by the names of alerts and recorded series. */
export function ruleQueries(rules: string): readonly (readonly [name: string, query: string])[] {
  return rules
    .split(/^ *- (?=alert: |record: )/m)
    .slice(1)
    .map((rule) => {
      const name = /^\w+: (\S+)/.exec(rule)?.[1] ?? ''
      const [, folded, plain] = /^ *expr: (?:>-\n((?: {10}.*\n)+)|(.*)$)/m.exec(rule) ?? []
      return [name, (folded ?? plain ?? '').replaceAll(/\s+/g, ' ').trim()]
    })
}

type Panel = Readonly<{ title: string; targets?: readonly Readonly<{ expr: string }>[] }>

/** Queries of a dashboard by the titles of its panels, with values for the variables of Grafana. */
export function dashboardQueries(json: string): readonly (readonly [title: string, query: string])[] {
  const { panels } = JSON.parse(json) as { panels: readonly Panel[] }
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(
      ({ expr }) => [title, expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*')] as const,
    ),
  )
}

/** Names of series in a query. */
export function seriesNames(query: string): readonly string[] {
  const bare = query
    .replaceAll(/"[^"]*"/g, '""')
    .replaceAll(/\{[^}]*\}/g, ' ')
    .replaceAll(/\b(?:by|on|without|ignoring|group_left|group_right) ?\([^)]*\)/g, ' ')
    .replaceAll(/\[[^\]]*\]/g, ' ')
    .replaceAll(/\boffset \w+/g, ' ')
  return [...bare.matchAll(/[a-zA-Z_][\w:]*(?!\w*\s*\()/g)]
    .map(([name]) => name)
    .filter((name) => !['or', 'and', 'unless', 'bool'].includes(name))
}

/**
 * Series, labels, and values of labels that a query names and no service has. `recorded` are the series that rules make;
 * their only label is `job`.
 */
export function unknownIn(
  query: string,
  all: readonly ScrapedSeries[],
  recorded: ReadonlySet<string>,
): readonly string[] {
  const names = seriesNames(query)
  const own = (name: string): readonly ScrapedSeries[] => all.filter((one) => one.name === name)
  const isKnown = (name: string): boolean =>
    recorded.has(name) || name in OF_PROMETHEUS || own(name).length > 0
  const grouped = [...query.matchAll(/\b(?:by|on) ?\(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((label) => label.trim()),
  )
  const labels = new Set(names.flatMap((name) => [...TARGET_LABELS, ...own(name).flatMap(labelNames)]))
  return [
    ...names.filter((name) => !isKnown(name)),
    ...grouped.filter((label) => !labels.has(label)).map((label) => `label ${label}`),
    ...[...query.matchAll(/([\w:]+)\{([^}]*)\}/g)].flatMap(([, name = '', matchers = '']) =>
      [...matchers.matchAll(/(\w+)(=~|!=|!~|=)"([^"]*)"/g)]
        .filter(([, label = '', operator = '', value = '']) => !matches(own(name), [label, operator, value]))
        .filter(([, label = '']) => !TARGET_LABELS.includes(label) && !OF_PROMETHEUS[name]?.includes(label))
        .map(([matcher]) => `${name}: ${matcher}`),
    ),
  ]
}

/** Whether a matcher of a label fits a series, or excludes one that exists. */
function matches(
  series: readonly ScrapedSeries[],
  [label, operator, value]: readonly [string, string, string],
): boolean {
  const pattern = operator.endsWith('~') ? new RegExp(`^(?:${value})$`) : null
  return series
    .flatMap((one) => new RegExp(`(?:^|,)${label}="([^"]*)"`).exec(one.labels)?.[1] ?? [])
    .some((given) => pattern?.test(given) ?? given === value)
}
