import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../processes/other-program.ts'
import type { Service } from '../stage/service.ts'
import { startImportedNode } from '../sample/imported-node.ts'

/** A service, and lines for it, each with a deposit of its own amount. */
export type InputStage = AsyncDisposable &
  Readonly<{
    folder: string
    tokenFile: string
    service: Service
    line(): string
    /** Takes the last line back: it is never published. */
    forgetLine(): void
    /** Lines so far. */
    lines(): number
    /** Amounts of all events. */
    amounts(): Promise<readonly number[]>
    /** Waits until every line is published. */
    published(): Promise<void>
  }>

export async function openInputStage(): Promise<InputStage> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-input-'))
  const tokenFile = join(folder, 'token')
  const service = await startImportedNode({ chain: 'opaque' })
  writeFileSync(tokenFile, service.token)
  let number = 0
  const amounts = async (): Promise<readonly number[]> => {
    const answer = await fetch(`${service.url}/api/v1/events?limit=10000`)
    const { events } = (await answer.json()) as { events: readonly { kots: string }[] }
    return events.map(({ kots }) => Number(kots))
  }
  return {
    folder,
    tokenFile,
    service,
    line() {
      number += 1
      return `{"ref":"input-${number}","type":"treasury","kind":"deposit","kots":"${number}"}\n`
    },
    forgetLine: () => void (number -= 1),
    lines: () => number,
    amounts,
    published: () => until('every line is published', async () => (await amounts()).length === number),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true })
    },
  }
}
