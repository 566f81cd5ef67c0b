import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openPretendChain, type PretendChain } from '../../sim/chain/pretend-chain.ts'
import { run, type RunResult } from '../stage/command-stage.ts'
import { paidLog } from '../story/paid-log.ts'
import { type PublicLog, publicLog } from '../story/public-log.ts'

export const NOW: number = Date.UTC(2026, 5, 1)
/** Part of the URL of the server that nobody may repeat. */
export const KEY = 'secret-key'

const names = openPretendChain({ kind: 'evm', seed: 'command', now: () => NOW })
export const account: Readonly<{ payer: string; token: string }> = {
  payer: names.addressOf('payer'),
  token: names.addressOf('token'),
}
/** A chain that knows four payments. */
export const chain: PretendChain = openPretendChain({
  kind: 'evm',
  seed: 'command',
  now: () => NOW,
  startedAt: NOW - 7_200_000,
  tokens: { [account.token]: 6 },
})
const transfers = [{ ...account, payee: chain.addressOf('player'), units: 5_000_000n }]
const payments = [0, 1, 2, 3].map((number) => ({ tx: chain.txOf(number), tokens: 5 }))
/** A transaction that failed on the chain. */
export const FAILED: string = chain.txOf(8)
chain.send(FAILED, { sentAt: NOW - 3_600_000, error: true })
for (const { tx } of payments) chain.send(tx, { sentAt: NOW - 3_600_000, transfers })

export const honest: PublicLog = publicLog(paidLog(payments))
/** A log of which one payment names another transaction. */
export const lyingWith = (tx: string): PublicLog => publicLog(paidLog([...payments, { tx, tokens: 5 }]))

/** A service that answers with the files of a log, and with this status. */
async function serve(log: PublicLog, status: unknown): Promise<Readonly<{ url: string }> & AsyncDisposable> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').slice('/api/v1/'.length)
    const body = path === 'status' ? Buffer.from(JSON.stringify(status)) : log.body(path)
    response.writeHead(body === undefined ? 404 : 200).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, [Symbol.asyncDispose]: close }
}

/** Verifies a log at an address or in a folder. */
export function verify(log: PublicLog, target: string, ...words: readonly string[]): Promise<RunResult> {
  return run(['verify', target, '--key', log.key.vkey, ...words], { now: () => log.now })
}

/** Verifies a served log. */
export async function verifyServed(
  log: PublicLog,
  status: unknown,
  ...words: readonly string[]
): Promise<RunResult> {
  await using service = await serve(log, status)
  return await verify(log, service.url, ...words)
}

/** Status of a log of EVM payments. */
export const EVM = { chain: 'evm', simulated: false }
