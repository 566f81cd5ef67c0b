import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

type Line = Readonly<{ bytes?: number; found?: string; characters?: number; where?: string; by?: string }>

/** A run of tests whose public answers are scanned for wallet addresses. */
type EgressScan = Readonly<{
  /** `NODE_OPTIONS` of the processes that are scanned. */
  nodeOptions: string
  /** Bytes that were scanned, and a line for each address that was found. */
  read(): Readonly<{ bytes: number; findings: readonly string[] }>
  close(): void
}>

/** Opens a scan, whose findings are below a temporary folder. `options` are other `NODE_OPTIONS`. */
export function openEgressScan(options: string = process.env['NODE_OPTIONS'] ?? ''): EgressScan {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-egress-'))
  const module = pathToFileURL(join(import.meta.dirname, 'egress-scan.ts'))
  module.searchParams.set('to', folder)
  return {
    nodeOptions: `${options} --import=${module.href}`.trim(),
    read() {
      const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
      const lines = texts.flatMap((text) => text.trim().split('\n')).filter((line) => line !== '')
      const read = lines.map((line) => JSON.parse(line) as Line)
      const findings = read.flatMap(({ found, characters, where, by }) =>
        found === undefined ? [] : [`${characters} characters, SHA-256 ${found}…, in ${where}: ${by}`],
      )
      return { bytes: read.reduce((sum, { bytes = 0 }) => sum + bytes, 0), findings: [...new Set(findings)] }
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}
