import type { ClusterFault } from './cluster.ts'
import type { FaultRelay } from './fault-relay.ts'

const DELAY_MS = 120

/** Faults of the network at the relays of one place, all at once. A fault counts as fired when it met a connection. */
export function relayFaults(place: string, relays: readonly FaultRelay[]): readonly ClusterFault[] {
  if (relays.length === 0) return []
  const heal = (): void => {
    for (const relay of relays) relay.heal()
  }
  const fault = (how: string, begin: (relay: FaultRelay) => number): ClusterFault => ({
    name: `${how} ${place}`,
    place,
    async fire() {
      const met = relays.map(begin).reduce((sum, count) => sum + count, 0)
      if (met > 0) return { heal: async () => heal() }
      heal()
      return null
    },
  })
  return [
    fault('cut', (relay) => relay.refuse()),
    fault('stall', (relay) => relay.stall('both')),
    fault('stall one way of', (relay) => relay.stall('out')),
    fault('stall the answers of', (relay) => relay.stall('back')),
    fault('half-open', (relay) => relay.halfOpen()),
    fault('delay', (relay) => relay.delay(DELAY_MS)),
  ]
}
