export { nearestName } from "../base/nearest.ts";
