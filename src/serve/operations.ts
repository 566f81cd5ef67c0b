import type { Registry } from 'prom-client'

/** What the private listener answers about the node itself. */
export type OperationsAnswer = Readonly<{
  status: 200 | 503
  headers: Readonly<Record<string, string>>
  body: string
}>

/** Named checks of readiness: whether each holds. A check reads what is known; it waits for nothing. */
export type ReadinessChecks = Readonly<Record<string, () => boolean>>

/** Answers `/livez`, `/readyz` and `/metrics` by their path; undefined for any other. */
export type Operations = (path: string) => Promise<OperationsAnswer | undefined>

const JSON_HEADERS = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' }

/** Opens the operational endpoints, for the private listener only: the public one has no route to them. */
export function openOperations(
  checks: ReadinessChecks,
  registry: Pick<Registry, 'contentType' | 'metrics'>,
): Operations {
  return async (path) => {
    switch (path) {
      case '/livez':
        // That it answers is the answer: a restart repairs nothing that this node depends on.
        return { status: 200, headers: JSON_HEADERS, body: JSON.stringify({ alive: true }) }
      case '/readyz':
        return readiness(checks)
      case '/metrics':
        return {
          status: 200,
          headers: { 'Content-Type': registry.contentType, 'Cache-Control': 'no-store' },
          body: await registry.metrics(),
        }
      default:
        return undefined
    }
  }
}

/** Each check and whether it holds; one that throws does not. */
export function checksOf(checks: ReadinessChecks): ReadonlyMap<string, boolean> {
  return new Map(Object.entries(checks).map(([name, check]) => [name, holds(check)]))
}

function readiness(checks: ReadinessChecks): OperationsAnswer {
  const results = checksOf(checks)
  const ready = [...results.values()].every(Boolean)
  const body = JSON.stringify({ ready, checks: Object.fromEntries(results) })
  return { status: ready ? 200 : 503, headers: JSON_HEADERS, body }
}

function holds(check: () => boolean): boolean {
  try {
    return check()
  } catch {
    return false
  }
}
