import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineMessage } from '../../src/engine/log-engine.ts'
import type { FaultRelay } from '../torture/history/fault-relay.ts'
import { openFaultRelay } from '../torture/history/fault-relay.ts'
import { startNatsRig } from '../engine/nats-rig.ts'
import { openPostgresRig, portOf } from '../engine/postgres-rig.ts'
import { appendUntilRead, readAll } from '../engine/settled-append.ts'
import type { EngineStage } from './writers-stage.ts'

const STREAM = 1

/** An engine that loses its newest messages. Writers reach it through relays, and so not in the middle of the loss. */
export type LossyEngine = EngineStage &
  Readonly<{
    /** Notes the present messages. The result makes the engine lose all others, as a restored backup does. */
    remember(): Promise<() => Promise<void>>
    messages(): Promise<readonly EngineMessage[]>
  }>

/** Runs what the writers must not see half done. */
async function unseen(relays: readonly FaultRelay[], run: () => Promise<void>): Promise<void> {
  for (const relay of relays) relay.refuse()
  await run()
  for (const relay of relays) relay.heal()
}

/** Three brokers, whose stream is deleted and made again from older messages. */
export async function openLossyNats(): Promise<LossyEngine> {
  await using stack = new AsyncDisposableStack()
  const rig = stack.use(await startNatsRig())
  const relays: FaultRelay[] = []
  for (const { url } of rig.brokers)
    relays.push(stack.use(await openFaultRelay(() => Number(new URL(`nats://${url}`).port))))
  const messages = async (): Promise<readonly EngineMessage[]> => {
    await using connection = await rig.open(STREAM)
    return await readAll(connection.log)
  }
  const kept = stack.move()
  return {
    url: `nats://${relays.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    credentials: rig.running,
    makeStream: () => rig.make(STREAM),
    connect: () => rig.open(STREAM),
    messages,
    async remember() {
      const remembered = await messages()
      return () =>
        unseen(relays, async () => {
          const nats = await rig.admin()
          await nats.request(`$JS.API.STREAM.DELETE.daybook-${STREAM}`, '', { timeout: 30_000 })
          await rig.make(STREAM)
          await using connection = await rig.open(STREAM)
          for (const { place, bytes } of remembered)
            await appendUntilRead(connection.log, place, bytes, () => true)
        })
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** A primary and its standby are lost, and an asynchronous copy that lacks the newest rows is promoted. */
export async function openLossyPostgres(): Promise<LossyEngine> {
  await using stack = new AsyncDisposableStack()
  const rig = stack.use(await openPostgresRig())
  const relays = [
    stack.use(await openFaultRelay(() => portOf(rig.primary()))),
    stack.use(await openFaultRelay(() => portOf(rig.standby()))),
  ]
  const url = `postgres://daybook@${relays.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres?sslmode=disable`
  const kept = stack.move()
  return {
    url,
    credentials: null,
    makeStream: async () => void (await rig.makeStream()),
    connect: async () => rig.connect({ url }),
    async messages() {
      await using connection = rig.connect({ url })
      for (;;) {
        const all = await readAll(connection.log).catch(() => null)
        if (all !== null) return all
        await sleep(20)
      }
    },
    async remember() {
      await rig.copyAside()
      return () => unseen(relays, () => rig.promoteCopy())
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
