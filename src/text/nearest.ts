export { didYouMean, nearestName } from "../base/nearest.ts";
