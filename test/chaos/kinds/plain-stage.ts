import { Fleet, type FleetOptions } from '../fleet.ts'
import type { Setting, Stage } from '../kind.ts'
import { type Place, placeOn } from '../places.ts'

export interface Scene {
  readonly place: Place
  readonly fleet: Fleet
}

/** The share of orders that meet a fault of the recipient, whatever else is done. */
const faults = 0.1

/** A fleet on its store, with nothing between them unless `how` says so. */
export async function plainStage(
  setting: Setting,
  strike: (scene: Scene) => Promise<void>,
  how: {
    readonly place?: Place
    readonly fleet?: Partial<FleetOptions>
    readonly calm?: (scene: Scene) => Promise<void>
  } = {},
): Promise<Stage> {
  const { directory, servers, seed, plant, defer } = setting
  const place = how.place ?? (await placeOn(setting))
  const fleet = await Fleet.make({
    directory,
    servers,
    seed,
    faults,
    store: place.store,
    plant,
    ...how.fleet,
  })
  defer(() => fleet.dispose())
  const scene = { place, fleet }
  return {
    ...scene,
    strike: () => strike(scene),
    async calm() {
      await how.calm?.(scene)
      await fleet.start()
    },
  }
}
