export { builtinRewards } from './builtin.ts';
export { type OverlongBuffer, overlongBuffer, withOverlong } from './overlong.ts';
export {
  combineRewards,
  type RewardFn,
  RewardOutput,
  RewardRegistry,
  type RewardTask,
  register,
  rewardNumber,
} from './reward.ts';
export { type RewardRouter, type RewardSetup, rewardRouter } from './route.ts';
export { codeReward, httpReward } from './services.ts';
