console.log('rollout-viewer');
